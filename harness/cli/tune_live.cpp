#include "harness/cli/tune_live.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "harness/cli/commands.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/table.hpp"
#include "harness/core/error.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/session/provenance.hpp"
#include "harness/tune/budget.hpp"
#include "harness/tune/strategy.hpp"
#include "harness/tune/tuning_log.hpp"
#include "harness/tune/variant_space.hpp"

namespace fusebench {
namespace {

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

constexpr std::size_t least_budget = 32;  // a tenth of a small space would be no search

// One variant's search.
struct Search {
  Item item;  // of its default configuration
  SearchSpace space;
  std::size_t budget = 0;
  std::unique_ptr<Strategy> strategy = nullptr;
  std::size_t done = 0;
  std::optional<std::size_t> at = std::nullopt;  // being measured
  double search_ns = 0.0;                        // that it took to be proposed
  std::map<std::string, std::size_t> failures = {};
  std::optional<double> default_ns = std::nullopt;
  std::optional<double> best_ns = std::nullopt;
  std::string best = {};
};

void learn(Search& search, std::size_t index, const std::string& outcome, double median_ns) {
  ++search.done;
  const bool passed = outcome == "passed" && median_ns > 0.0;
  search.strategy->tell(index, passed ? std::optional(median_ns) : std::nullopt);
  if (!passed) {
    ++search.failures[outcome];
    return;
  }
  const std::string text = search.space.to_string(index);
  if (text == search.item.job.configuration) search.default_ns = median_ns;
  if (search.best_ns && *search.best_ns <= median_ns) return;
  search.best_ns = median_ns;
  search.best = text;
}

class Tuner final : public SessionObserver {
 public:
  Tuner(const LiveOptions& options, std::vector<Item> controls, std::vector<Search> searches)
      : options_(&options),
        progress_(options.run.quiet),
        controls_(std::move(controls)),
        searches_(std::move(searches)),
        provenance_(current_provenance()) {
    if (!options.budget.empty()) budget_ = parse_budget(options.budget);
  }

  void open_files(const DeviceTraits& traits) {
    traits_ = traits;
    if (!options_->log.empty()) {
      const Job& job = searches_.front().item.job;
      log_.emplace(
          options_->log,
          TuningTarget{job.operator_name, job.problem,
                       std::string(to_string(searches_.front().item.device)), traits.name});
      for (const TuningEntry& entry : log_->entries()) take_up(entry);
    }
    if (!options_->run.csv.empty()) csv_.emplace(options_->run.csv);
  }

  [[nodiscard]] std::size_t expected() const {
    std::size_t sum = controls_.size();
    for (const Search& search : searches_)
      sum += search.budget - std::min(search.budget, search.done);
    return sum;
  }

  std::optional<Item> next() {
    if (control_ < controls_.size()) return controls_[control_++];
    for (; current_ < searches_.size(); ++current_) {
      Search& search = searches_[current_];
      if (search.done >= search.budget || out_of_time()) continue;
      const auto start = Clock::now();
      // The default first: a gain is counted from it.
      search.at = first_of(search);
      if (!search.at) search.at = search.strategy->ask();
      search.search_ns = ns_since(start);
      if (!search.at) continue;
      Item item = search.item;
      item.show_configuration = true;
      item.job.configuration = search.space.to_string(*search.at);
      started_ = Clock::now();
      return item;
    }
    return std::nullopt;
  }

  void on_start(std::size_t index, std::size_t total, const Item& item) override {
    progress_.start(index, total, item);
  }
  void on_phase(const std::string& phase) override { progress_.phase(phase); }

  void on_result(const JobResult& result) override {
    progress_.result(result);
    if (csv_) csv_->append(result.record, result.samples);
    if (current_ >= searches_.size() || !searches_[current_].at) return;  // a control
    Search& search = searches_[current_];
    const std::size_t index = *search.at;
    search.at.reset();
    const Record& record = result.record;
    TuningEntry entry{.variant = record.variant,
                      .configuration = record.configuration,
                      .outcome = std::string(to_string(record.outcome)),
                      .reason = record.reason,
                      .median_ns = record.median_ns.value_or(0.0),
                      .samples_ns = {},
                      .search_ns = search.search_ns,
                      .total_ns = ns_since(started_),
                      .source = source(),
                      .driver = traits_.driver,
                      .toolkit = traits_.toolkit,
                      .timestamp = record.timestamp_utc};
    for (const Sample& sample : result.samples) entry.samples_ns.push_back(sample.ns);
    if (log_) log_->append(entry);
    learn(search, index, entry.outcome, entry.median_ns);
  }

  [[nodiscard]] const std::vector<Search>& searches() const { return searches_; }

 private:
  [[nodiscard]] std::string source() const {
    return provenance_.git_commit + (provenance_.dirty ? ", modified" : "");
  }

  [[nodiscard]] bool out_of_time() const {
    return budget_ && budget_->seconds && ns_since(began_) > *budget_->seconds * 1e9;
  }

  // What a log says of this program on this driver need not be measured again.
  void take_up(const TuningEntry& entry) {
    if (entry.source != source() || entry.driver != traits_.driver) return;
    if (entry.toolkit != traits_.toolkit) return;
    for (Search& search : searches_) {
      if (search.item.job.variant != entry.variant) continue;
      const auto index = index_of(search, entry.configuration);
      if (index && taken_up_.insert({entry.variant, *index}).second) {
        learn(search, *index, entry.outcome, entry.median_ns);
      }
    }
  }

  static std::optional<std::size_t> index_of(const Search& search, const std::string& text) {
    for (std::size_t i = 0; i < search.space.size(); ++i) {
      if (search.space.to_string(i) == text) return i;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> first_of(const Search& search) const {
    if (search.done > 0) return std::nullopt;
    return index_of(search, search.item.job.configuration);
  }

  const LiveOptions* options_;
  Progress progress_;
  std::vector<Item> controls_;
  std::size_t control_ = 0;
  std::vector<Search> searches_;
  std::size_t current_ = 0;
  std::set<std::pair<std::string, std::size_t>> taken_up_;
  Provenance provenance_;
  DeviceTraits traits_;
  std::optional<Budget> budget_;
  std::optional<TuningLog> log_;
  std::optional<ResultFiles> csv_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point started_;
};

std::size_t budget_of(const std::string& text, std::size_t size) {
  if (!text.empty()) return parse_budget(text).most(size);
  return std::min(size, std::max(least_budget, parse_budget("10%").most(size)));
}

std::string failures_of(const Search& search) {
  std::string text;
  for (const auto& [outcome, count] : search.failures) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  }
  return text.empty() ? "-" : text;
}

void print_best(const std::vector<Search>& searches) {
  std::vector<std::vector<std::string>> rows = {
      {"variant", "best configuration", "median", "over default", "measured", "of", "failures"}};
  for (const Search& search : searches) {
    const bool both = search.best_ns && search.default_ns;
    rows.push_back({search.item.job.variant, search.best_ns ? search.best : "none passed",
                    search.best_ns ? format_time(*search.best_ns) : "-",
                    both ? fmt::format("{:.3f}x", *search.default_ns / *search.best_ns) : "-",
                    std::to_string(search.done), std::to_string(search.space.size()),
                    failures_of(search)});
  }
  constexpr std::array<std::size_t, 3> left = {0, 1, 6};
  fmt::print("{}", align(rows, left));
}

}  // namespace

int tune_variants(const LiveOptions& options) {
  SessionOptions session = options.run.session();
  session.interrupted = interrupt_requested;
  std::vector<Item> controls;
  std::vector<Search> searches;
  std::string unavailable;
  for (Item& item : plan_session(options.run.selection(), session)) {
    if (item.job.control) {
      controls.push_back(std::move(item));
    } else if (!item.unavailable.empty()) {
      unavailable = item.unavailable;
    } else if (item.variant->info().parameters.parameters().empty()) {
      unavailable = item.job.variant + " has no parameters";
    } else {
      SearchSpace space = variant_space(item.variant->info().parameters);
      const std::size_t budget = budget_of(options.budget, space.size());
      searches.push_back({.item = std::move(item), .space = std::move(space), .budget = budget});
    }
  }
  if (searches.empty()) throw Error("nothing that was chosen can be tuned here: {}", unavailable);
  for (Search& search : searches) {  // whose spaces have come to rest
    search.strategy = make_strategy(options.strategy, search.space,
                                    {.seed = options.run.seed(), .budget = search.budget});
    const Item& first = searches.front().item;
    const bool same = search.item.job.operator_name == first.job.operator_name &&
                      search.item.device == first.device;
    if (!options.log.empty() && !same) {
      throw Error(
          "--log keeps one operator on one device; choose them with --operator and --device");
    }
  }
  const DeviceTraits traits =
      probe_device(searches.front().item.device).traits.value_or(DeviceTraits{});
  Tuner tuner(options, std::move(controls), std::move(searches));
  tuner.open_files(traits);
  if (!options.run.quiet) fmt::print(stderr, "seed {}\n", options.run.seed());
  const bool complete = run_session([&] { return tuner.next(); }, tuner.expected(), session, tuner);
  print_best(tuner.searches());
  if (!complete) {
    throw Error("interrupted{}",
                options.log.empty() ? "" : "; the same command goes on from " + options.log);
  }
  const auto& done = tuner.searches();
  const bool any = std::any_of(done.begin(), done.end(),
                               [](const Search& search) { return search.best_ns.has_value(); });
  return any ? as_hoped : negative_verdict;
}

}  // namespace fusebench
