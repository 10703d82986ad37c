// One line for each item on standard error: rewritten in place on a terminal, plain in a log.
#pragma once

#include <string>
#include <vector>

#include "harness/session/session.hpp"

namespace fusebench {

class Progress {
 public:
  explicit Progress(bool quiet);
  void start(std::size_t index, std::size_t total, const Item& item);
  void phase(const std::string& phase);
  void result(const JobResult& result);

 private:
  bool quiet_;
  bool terminal_;
  bool silent_ = false;
  std::string head_;
  std::vector<std::string>
      notes_;  // of the last result: another configuration's need not be told again
};

}  // namespace fusebench
