#include "harness/measure/binomial.hpp"

#include <cmath>

namespace fusebench {
namespace {

double log_factorial(double n) {
  int sign = 0;
  return lgamma_r(n + 1, &sign);
}

}  // namespace

double log_binomial(double n, double k) {
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace fusebench
