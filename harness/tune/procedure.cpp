#include "harness/tune/procedure.hpp"

namespace fusebench {

std::optional<std::size_t> ProcedureStrategy::ask() {
  if (memory_.fresh().empty()) return std::nullopt;
  if (!started_) {
    procedure_ = search();
    started_ = true;
  }
  while (!procedure_.finished() && (!awaited_ || memory_.is_known(*awaited_))) {
    awaited_.reset();
    procedure_.resume();
  }
  const bool asks_fresh = awaited_ && memory_.is_fresh(*awaited_);
  const std::size_t index = asks_fresh ? *awaited_ : memory_.random_fresh(random_);
  memory_.propose(index);
  return index;
}

}  // namespace fusebench
