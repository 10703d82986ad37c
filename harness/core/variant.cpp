#include "harness/core/variant.hpp"

#include <utility>

namespace fusebench {
namespace {

class FunctionPlan final : public Plan {
 public:
  explicit FunctionPlan(std::function<void(const TensorTable&)> body) : body_(std::move(body)) {}
  void enqueue(const TensorTable& tensors) override { body_(tensors); }

 private:
  std::function<void(const TensorTable&)> body_;
};

}  // namespace

std::string_view to_string(InPlace in_place) noexcept {
  switch (in_place) {
    case InPlace::no: return "no";
    case InPlace::also: return "also";
    case InPlace::only: return "only";
  }
  return "unknown";
}

std::unique_ptr<Plan> make_plan(std::function<void(const TensorTable&)> body) {
  return std::make_unique<FunctionPlan>(std::move(body));
}

}  // namespace fusebench
