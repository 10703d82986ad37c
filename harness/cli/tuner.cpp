#include "harness/cli/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "harness/cli/table.hpp"
#include "harness/core/added_time.hpp"
#include "harness/core/error.hpp"
#include "harness/core/revision.hpp"
#include "harness/record/whole_file.hpp"
#include "harness/tune/text_file.hpp"
#include "harness/tune/variant_space.hpp"
#include "harness/tune/wisdom.hpp"

namespace fusebench {
namespace {

constexpr double final_seconds = 0.25;  // of samples, for each contestant in each round

double ns_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Tuner::Tuner(const LiveOptions& options, std::vector<Item> controls, Searches searches,
             Devices devices, Foundry* foundry)
    : options_(&options),
      progress_(options.run.quiet),
      controls_(std::move(controls)),
      searches_(std::move(searches)),
      devices_(std::move(devices)),
      foundry_(foundry),
      provenance_(current_provenance(options.run.kernel_folder)),
      budget_(options.budget.empty() ? Budget() : parse_budget(options.budget)),
      shares_(budget_.seconds, searches_.size()) {
  if (!options.log.empty()) {
    const Item& first = searches_.front()->item();
    log_.emplace(options.log,
                 TuningTarget{first.job.operator_name, first.job.problem,
                              std::string(to_string(first.device)), devices_[first.device].name});
  }
  // What the log knows is not measured again, and so must not leave the results.
  if (!options.run.csv.empty()) {
    csv_.emplace(options.run.csv, log_ ? EarlierRows::kept : EarlierRows::replaced);
  }
  take_up_log();
  order_kernels();
}

void Tuner::take_up_log() {
  if (!log_ || log_->entries().empty()) return;
  // Failures in a final come first: what a strategy was told once stays.
  for (const char* stage : {"final", "search"}) {
    for (const TuningEntry& entry : log_->entries()) {
      if (entry.stage != stage) continue;
      for (const auto& search : searches_) {
        if (search->take_up(entry)) break;
      }
    }
  }
  std::size_t known = 0;
  std::size_t size = 0;
  std::map<std::string, std::set<std::string>> left_out;  // configurations by why
  for (const auto& search : searches_) {
    known += search->done();
    size += search->space().size();
    for (const TuningEntry& entry : log_->entries()) {
      if (entry.variant != search->item().job.variant || entry.stage != "search" ||
          search->knows(entry.configuration)) {
        continue;
      }
      left_out[search->obstacle_to(entry)].insert(entry.variant + " " + entry.configuration);
    }
  }
  std::string line = fmt::format("{} of {} known from {}", known, size, options_->log);
  for (const auto& [why, which] : left_out) {
    line += fmt::format("; {} left out: {}", which.size(), why);
  }
  progress_.say(line);
}

std::size_t Tuner::expected() const {
  std::size_t sum = controls_.size();
  for (const auto& search : searches_) sum += search->left();
  return sum;
}

std::optional<Item> Tuner::next() {
  at_.reset();
  if (control_ < controls_.size()) return controls_[control_++];
  for (; current_ < searches_.size(); ++current_, stage_ = Stage::search) {
    if (auto item = next_of(*searches_[current_])) return item;
  }
  return std::nullopt;
}

std::optional<Item> Tuner::next_of(VariantSearch& search) {
  entry_ = {};
  if (stage_ == Stage::search) {
    {
      const bool first_only = shares().search_is_over(options_->finalists, search.done());
      const AddedTime timer(entry_.search_ns);
      at_ = search.propose(first_only);
    }
    if (at_) return item_of(search, *at_);
    search.begin_final(finalists());
    stage_ = Stage::final;
  }
  if (stage_ == Stage::final) {
    const bool in_time = !shares().is_up();
    if (in_time) at_ = search.next_in_final();
    if (in_time && !at_ && search.needs_another_final()) {
      search.begin_final(finalists());
      at_ = search.next_in_final();
    }
    if (at_) {
      Item item = item_of(search, *at_);
      item.job.battery_passed = true;
      item.job.limits.max_seconds = std::min(item.job.limits.max_seconds, final_seconds);
      return item;
    }
    stage_ = Stage::over;
    conclude(search);
  }
  return std::nullopt;
}

Item Tuner::item_of(const VariantSearch& search, std::size_t index) {
  Item item = search.item();
  item.show_configuration = true;
  item.job.configuration = search.space().to_string(index);
  started_ = Clock::now();
  if (foundry_ == nullptr) return item;
  {
    // Where another process is at it already, it is not compiled twice.
    const AddedTime timer(entry_.compile_ns);
    entry_.ahead_ns = foundry_->take(wanted_of(search.item(), search.configuration(index)));
  }
  // What was waited for is part of what compiling it took there.
  entry_.ahead_ns = std::max(0.0, entry_.ahead_ns - entry_.compile_ns);
  order_kernels();
  return item;
}

// While the device measures one, the other processors compile those that come next: of this variant, then of the following.
void Tuner::order_kernels() {
  if (foundry_ == nullptr) return;
  if (times_the_cpu()) return foundry_->order({});
  const std::size_t most = 4 * Foundry::all_processors();
  std::vector<Foundry::Wanted> wanted;
  for (std::size_t i = current_; i < searches_.size() && wanted.size() < most; ++i) {
    const Item& item = searches_[i]->item();
    const auto is_known = [&](const Configuration& one) {
      return foundry_->knows(wanted_of(item, one));
    };
    for (Configuration& one : searches_[i]->likely(most - wanted.size(), is_known)) {
      wanted.push_back(wanted_of(item, std::move(one)));
    }
  }
  foundry_->order(wanted);
}

// Then the other processors are what is measured, or share its caches and clock.
bool Tuner::times_the_cpu() const {
  const auto left = controls_.begin() + static_cast<std::ptrdiff_t>(control_);
  const bool controls = std::any_of(
      left, controls_.end(), [](const Item& item) { return item.device == DeviceKind::cpu; });
  return controls ||
         (current_ < searches_.size() && searches_[current_]->item().device == DeviceKind::cpu);
}

// The final counts apart: how long it is nobody knows before the search has ended.
void Tuner::on_start(std::size_t /*index*/, std::size_t /*total*/, const Item& item) {
  if (at_ && stage_ == Stage::final) {
    const VariantSearch& search = *searches_[current_];
    const std::size_t steps = search.final_steps();
    progress_.start(fmt::format("final {}/{}", steps - search.final_steps_left() + 1, steps), item);
  } else {
    const std::size_t others = started_items_++;
    std::size_t left = at_ ? 0 : 1;  // a control is no longer among those that are expected
    left += expected() - control_;
    progress_.start(started_items_, std::max(started_items_, others + left), item);
  }
  if (at_) progress_.status(status(*searches_[current_]));
}

void Tuner::on_result(const JobResult& result) {
  progress_.result(result);
  const Record& record = result.record;
  const bool passed = record.outcome == Outcome::passed && record.median_ns;
  const bool again = at_ && stage_ == Stage::final && passed;  // in part verified, and in the log
  if (csv_ && !again) csv_->append(record, result.samples);
  if (!at_) return;  // a control
  if (stage_ == Stage::final) return learn_in_final(result, passed);
  VariantSearch& search = *searches_[current_];
  entry_.variant = record.variant;
  entry_.configuration = record.configuration;
  entry_.outcome = std::string(to_string(record.outcome));
  entry_.reason = record.reason;
  entry_.median_ns = passed ? *record.median_ns : 0.0;
  for (const Sample& sample : result.samples) entry_.samples_ns.push_back(sample.ns);
  entry_.compile_ns += result.times.compile_ns;
  entry_.verify_ns = result.times.verify_ns;
  entry_.measure_ns = result.times.measure_ns;
  entry_.total_ns = ns_since(started_);
  entry_.basis = search.basis();
  log(entry_);
  search.learn(*at_, entry_.outcome, entry_.median_ns, entry_.samples_ns);
  spent_ns_ += entry_.total_ns + entry_.search_ns;
  ++measured_;
  shares().add_step(entry_.total_ns * 1e-9);
}

// Who came through it is logged at its end; who failed at once, for the log says that it passed.
void Tuner::learn_in_final(const JobResult& result, bool passed) {
  VariantSearch& search = *searches_[current_];
  const Record& record = result.record;
  const std::string outcome(to_string(record.outcome));
  search.learn_in_final(passed ? record.median_ns : std::nullopt, passed ? "passed" : outcome);
  if (passed) return;
  log({.stage = "final",
       .variant = record.variant,
       .configuration = record.configuration,
       .outcome = outcome,
       .reason = record.reason,
       .compile_ns = entry_.compile_ns + result.times.compile_ns,
       .verify_ns = result.times.verify_ns,
       .measure_ns = result.times.measure_ns,
       .total_ns = ns_since(started_),
       .basis = search.basis()});
}

void Tuner::log(TuningEntry entry) {
  if (!log_) return;
  entry.git_commit = revision(provenance_.git_commit, provenance_.dirty);
  entry.timestamp = utc_timestamp();
  log_->append(entry);
}

void Tuner::conclude(const VariantSearch& search) {
  const Champion champion = search.champion();
  for (TuningEntry& entry : search.final_entries()) log(std::move(entry));
  if (champion.configuration.empty()) return;
  const std::string& variant = search.item().job.variant;
  if (search.final_steps_left() > 0) {
    const std::size_t done = search.final_rounds();
    progress_.say(fmt::format("    {}: the time was up after {} of the final's {} rounds{}",
                              variant, done, VariantSearch::rounds,
                              done < VariantSearch::least_rounds ? ", too few to count" : ""));
  }
  for (const std::string& tie : champion.ties) {
    progress_.say(
        fmt::format("    {}: {} cannot be told from {}, {}", variant, tie,
                    champion.kept_default ? "the default, which stays the best" : "the best",
                    champion.configuration));
  }
  if (options_->wisdom.empty()) return;
  try {
    keep_wisdom(search, champion);
  } catch (const Error& error) {
    // What else was chosen is searched all the same.
    has_kept_wisdom_ = false;
    fmt::print(stderr, "fusebench: {} is the best of {} and could not be kept: {}\n",
               champion.configuration, search.item().job.variant, error.what());
  }
}

// Why the wisdom that is there stays: its configuration had no part in this search, which so cannot have found a better one.
std::optional<std::string> Tuner::worth_keeping(const VariantSearch& search,
                                                const std::string& path) const {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  const Wisdom old = parse_wisdom(path, read_text_file(path));
  if (old.source != search.basis().source || !index_of(search.space(), old.configuration) ||
      search.has_passed(old.configuration)) {
    return std::nullopt;
  }
  return fmt::format("{} stays: its {} has no passing time in this search; take the file away to "
                     "have it replaced",
                     path, old.configuration);
}

void Tuner::keep_wisdom(const VariantSearch& search, const Champion& champion) {
  const Item& item = search.item();
  const DeviceTraits& traits = devices_[item.device];
  const Wisdom wisdom{.operator_name = item.job.operator_name,
                      .variant = item.job.variant,
                      .device = std::string(to_string(item.device)),
                      .device_name = traits.name,
                      .architecture = traits.architecture ? traits.architecture->to_string() : "",
                      .problem = item.job.problem,
                      .configuration = champion.configuration,
                      .median_ns = champion.median_ns,
                      .default_over_best = champion.default_ratio,
                      .ties = champion.ties,
                      .measured = search.done(),
                      .space = search.space().size(),
                      .source = search.basis().source,
                      .driver = search.basis().driver,
                      .toolkit = search.basis().toolkit,
                      .git_commit = revision(provenance_.git_commit, provenance_.dirty),
                      .timestamp = utc_timestamp()};
  const std::string path =
      (std::filesystem::path(options_->wisdom) / wisdom_file_name(wisdom)).string();
  if (const auto why = worth_keeping(search, path)) return progress_.say("    wisdom: " + *why);
  write_whole_file(path, wisdom_text(wisdom));
  progress_.say("    wisdom: " + path);
}

TimeShares& Tuner::shares() {
  shares_.at(current_, ns_since(began_) * 1e-9);
  return shares_;
}

std::size_t Tuner::finalists() {
  const std::size_t most = shares().finalists(options_->finalists);
  if (most == 0 && options_->finalists > 0) {
    progress_.say("    no time is left for a final: the fastest median wins");
  }
  return most;
}

std::string Tuner::time_left() const {
  if (measured_ == 0) return "";
  std::size_t left = 0;
  for (std::size_t i = current_; i < searches_.size(); ++i) left += searches_[i]->left();
  double seconds = spent_ns_ * 1e-9 / static_cast<double>(measured_) * static_cast<double>(left);
  if (budget_.seconds) {
    seconds = std::min(seconds, std::max(0.0, *budget_.seconds - ns_since(began_) * 1e-9));
  }
  if (seconds < 100) return fmt::format("; {:.0f} s left", seconds);
  return fmt::format("; {:.0f} min left", seconds / 60.0);
}

std::string Tuner::status(const VariantSearch& search) const {
  if (stage_ == Stage::final) {
    return fmt::format("final between the best, {} measurements left", search.final_steps_left());
  }
  std::string text = fmt::format("{} done, {} left", search.done(), search.left());
  if (const auto best = search.best_ns()) {
    text += "; best " + format_time(*best);
    if (const auto usual = search.default_ns()) {
      text += fmt::format(", {:.3f}x of the default's speed", *usual / *best);
    }
  }
  for (const auto& [outcome, count] : search.failures())
    text += fmt::format("; {} {}", count, outcome);
  return text + time_left();
}

}  // namespace fusebench
