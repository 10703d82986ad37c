// The searches of one command, one variant after another: what runs next, and what is kept of it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/progress.hpp"
#include "harness/cli/time_shares.hpp"
#include "harness/cli/tune_live.hpp"
#include "harness/cli/variant_search.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/session/foundry.hpp"
#include "harness/session/provenance.hpp"
#include "harness/tune/budget.hpp"
#include "harness/tune/tuning_log.hpp"

namespace fusebench {

class Tuner final : public SessionObserver {
 public:
  using Searches = std::vector<std::unique_ptr<VariantSearch>>;
  using Devices = std::map<DeviceKind, DeviceTraits>;

  /// Opens the log and takes up what it knows. `foundry` may be null; it and the options outlive this. Throws Error, and has
  /// changed nothing, for a log of another target, and where a file cannot be written.
  Tuner(const LiveOptions& options, std::vector<Item> controls, Searches searches, Devices devices,
        Foundry* foundry);

  /// About how many items there are to come.
  [[nodiscard]] std::size_t expected() const;
  [[nodiscard]] std::optional<Item> next();

  void on_start(std::size_t index, std::size_t total, const Item& item) override;
  void on_phase(const std::string& phase) override { progress_.phase(phase); }
  void on_result(const JobResult& result) override;

  [[nodiscard]] const Searches& searches() const { return searches_; }
  /// False where some wisdom could not be written, of which a person was told.
  [[nodiscard]] bool has_kept_wisdom() const { return has_kept_wisdom_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stage { search, final, over };

  [[nodiscard]] std::optional<Item> next_of(VariantSearch& search);
  [[nodiscard]] Item item_of(const VariantSearch& search, std::size_t index);
  void order_kernels();
  [[nodiscard]] bool times_the_cpu() const;
  void log(TuningEntry entry);
  void learn_in_final(const JobResult& result, bool passed);
  void conclude(const VariantSearch& search);
  void keep_wisdom(const VariantSearch& search, const Champion& champion);
  [[nodiscard]] std::optional<std::string> worth_keeping(const VariantSearch& search,
                                                         const std::string& path) const;
  void take_up_log();
  /// With the clock and the search as they are now.
  [[nodiscard]] TimeShares& shares();
  [[nodiscard]] std::size_t finalists();
  [[nodiscard]] std::string status(const VariantSearch& search) const;
  [[nodiscard]] std::string time_left() const;

  const LiveOptions* options_;
  Progress progress_;
  std::vector<Item> controls_;
  std::size_t control_ = 0;
  Searches searches_;
  std::size_t current_ = 0;
  Stage stage_ = Stage::search;
  Devices devices_;
  Foundry* foundry_;
  Provenance provenance_;
  Budget budget_;
  TimeShares shares_;
  std::optional<TuningLog> log_;
  std::optional<ResultFiles> csv_;

  std::optional<std::size_t> at_;  // the configuration being measured
  TuningEntry entry_;              // of it, as far as it is known
  Clock::time_point began_ = Clock::now();
  Clock::time_point started_;
  std::size_t started_items_ = 0;  // finals' left out
  bool has_kept_wisdom_ = true;
  double spent_ns_ = 0.0;     // on configurations measured by this command
  std::size_t measured_ = 0;  // how many
};

}  // namespace fusebench
