#include "harness/verify/workbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/device/cpu/fill_memory.hpp"

namespace fusebench {
namespace {

constexpr std::uint64_t poison_stream = 0x501504;

std::int64_t total_bytes(const std::vector<TensorSpec>& specs) {
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : specs) {
    bytes += element_count(spec.shape) * static_cast<std::int64_t>(sizeof(float));
  }
  return bytes;
}

}  // namespace

void require_memory(const std::string& what, std::int64_t bytes, const DeviceTraits& traits) {
  if (traits.memory_bytes > 0 && bytes > traits.memory_bytes / 2) {
    throw Unavailable(
        "{} needs {:.1f} GB for its tensors; {} has {:.1f} GB, half of which they may take", what,
        static_cast<double>(bytes) / 1e9, traits.name,
        static_cast<double>(traits.memory_bytes) / 1e9);
  }
}

TensorTable addresses_of(const std::vector<TensorView>& views) {
  std::vector<void*> addresses;
  for (const TensorView& view : views) {
    addresses.push_back(static_cast<std::byte*>(view.region->address()) + view.offset);
  }
  return TensorTable(std::move(addresses));
}

InputSet official_inputs(const Operator& op, const Problem& problem) {
  InputSet set{.name = "official", .recipes = {}};
  for (const TensorSpec& spec : op.tensors(problem)) {
    if (spec.role == TensorRole::input) set.recipes.push_back(spec.recipe);
  }
  return set;
}

Workbench::Workbench(const Operator& op, const Problem& problem, InputSet inputs,
                     const Placement& placement, std::uint64_t seed, Device& device)
    : op_(&op),
      problem_(problem),
      device_(&device),
      inputs_(std::move(inputs)),
      in_place_(placement.in_place),
      on_host_(device.traits().kind == DeviceKind::cpu),
      poison_seed_(random_bits(poison_stream, seed)),
      specs_(op.tensors(problem)),
      tally_(make_device_tally(op, device)) {
  // The host holds the judge's inputs, and the output for comparing, whatever the device.
  const std::string what = "problem " + problem.to_string();
  require_memory(what, total_bytes(specs_), device.traits());
  // Looked up once: a workbench is made for every case of every configuration.
  static const DeviceTraits host = probe_device(DeviceKind::cpu).traits.value();
  require_memory(what, total_bytes(specs_), host);
  if (specs_.size() != inputs_.recipes.size() + 1 ||
      inputs_.recipes.size() > OracleArguments::most_inputs) {
    throw Error("operator {}: input set '{}' has {} recipes for {} tensors", op.name(),
                inputs_.name, inputs_.recipes.size(), specs_.size());
  }
  if (in_place_ && count(0) != count(specs_.size() - 1)) {
    throw Error("{}: {} has {} elements and {} has {}, so it cannot be in place", what,
                specs_.front().name, count(0), specs_.back().name, count(specs_.size() - 1));
  }
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (in_place_ && specs_[i].role == TensorRole::output) break;
    const bool writable = specs_[i].role == TensorRole::output || (in_place_ && i == 0);
    placed_.emplace_back(device, specs_[i].name, static_cast<std::size_t>(count(i)) * sizeof(float),
                         placement, writable);
  }
  host_inputs_.resize(inputs_.recipes.size());
  streams_.resize(inputs_.recipes.size());
  fresh_.resize(inputs_.recipes.size());
  if (tally_ && op.device_oracle_reads_inputs()) {
    for (std::size_t i = 0; i < inputs_.recipes.size(); ++i) {
      own_inputs_.push_back(device.allocate(static_cast<std::size_t>(count(i)) * sizeof(float)));
    }
  }
  renew(seed);
  rearm();
}

std::vector<TensorView> Workbench::views() const {
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const bool writable = &placed_[i] == &output();
    views.push_back(
        {specs_[i].name, &placed_[i].region(), placed_[i].offset(), placed_[i].bytes(), writable});
  }
  if (in_place_) {
    views.push_back(views.front());
    views.back().name = specs_.back().name;
  }
  return views;
}

void Workbench::write_input(std::size_t input) {
  if (on_host_) {
    const std::vector<float>& values = host_input(input);
    device_->upload(placed_[input].address(), values.data(), values.size() * sizeof(float));
    return;
  }
  // generate() takes a seed; a recipe whose own stream is set and a seed of 0 name the stream itself.
  InputRecipe recipe = inputs_.recipes[input];
  recipe.stream = streams_[input];
  device_->generate(placed_[input].values(), count(input), recipe, 0);
  if (own_inputs_.empty()) return;
  device_->generate(static_cast<float*>(own_inputs_[input].address()), count(input), recipe, 0);
}

void Workbench::renew(std::uint64_t seed) {
  for (std::size_t i = 0; i < streams_.size(); ++i) renew(i, seed);
}

void Workbench::renew(std::size_t input, std::uint64_t seed) {
  streams_[input] = stream_of(seed, inputs_.recipes[input]);
  host_inputs_[input].clear();
  write_input(input);
  fingerprints_.clear();
  fresh_[input] = true;
}

void Workbench::rearm() {
  for (PlacedTensor& tensor : placed_) {
    poison_seed_ = random_bits(poison_stream, poison_seed_);
    tensor.arm(poison_seed_);
  }
  strips_whole_ = true;
}

std::vector<std::uint64_t> Workbench::input_fingerprints() {
  std::vector<MemoryRange> ranges;
  for (std::size_t i = in_place_ ? 1 : 0; i < streams_.size(); ++i) {
    ranges.push_back({placed_[i].address(), placed_[i].bytes()});
  }
  return device_->fingerprints(ranges);
}

void Workbench::prepare(bool watch_inputs) {
  if (std::find(fresh_.begin(), fresh_.end(), false) != fresh_.end()) {
    const bool changed = fingerprints_.empty() || input_fingerprints() != fingerprints_;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (!fresh_[i] && (changed || (in_place_ && i == 0))) write_input(i);
    }
  }
  if (!strips_whole_) rearm();  // the bench may have served a variant that broke them
  strips_whole_ = false;
  std::fill(fresh_.begin(), fresh_.end(), false);
  if (!watch_inputs) {
    fingerprints_.clear();
  } else if (fingerprints_.empty()) {
    fingerprints_ = input_fingerprints();
  }
  poison_seed_ = random_bits(poison_stream, poison_seed_);
  if (!in_place_) device_->poison(output().values(), count(specs_.size() - 1), poison_seed_);
}

std::optional<std::string> Workbench::tampering() {
  if (!fingerprints_.empty()) {
    const std::vector<std::uint64_t> now = input_fingerprints();
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] == fingerprints_[i]) continue;
      return fmt::format("input {} was changed by the call", specs_[i + (in_place_ ? 1 : 0)].name);
    }
  }
  strips_whole_ = false;
  for (const PlacedTensor& tensor : placed_) {
    if (auto broken = tensor.broken()) return broken;
  }
  strips_whole_ = true;
  return std::nullopt;
}

std::uint64_t Workbench::output_fingerprint() {
  return device_->fingerprint(output().address(), output().bytes());
}

const std::vector<float>& Workbench::host_input(std::size_t input) {
  std::vector<float>& values = host_inputs_[input];
  if (values.empty()) {
    values.resize(static_cast<std::size_t>(count(input)));
    generate_values(values.data(), count(input), inputs_.recipes[input], streams_[input]);
  }
  return values;
}

OracleArguments Workbench::oracle_arguments() const {
  OracleArguments arguments;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    arguments.inputs[i] = {inputs_.recipes[i], streams_[i],
                           static_cast<unsigned long long>(count(i))};
    arguments.inputs[i].finite = surely_finite(inputs_.recipes[i]);
    if (!own_inputs_.empty()) {
      arguments.inputs[i].values = static_cast<const float*>(own_inputs_[i].address());
    }
  }
  std::size_t size = 0;
  for (const std::int64_t value : op_->device_oracle_sizes(problem_)) {
    if (size == OracleArguments::most_sizes) {
      throw Error("operator {}: a device's oracle takes {} sizes at most", op_->name(), size);
    }
    arguments.sizes[size++] = static_cast<unsigned long long>(value);
  }
  return arguments;
}

Tally Workbench::tally_output(const AcceptanceRule& rule) {
  if (!tally_) return compare_output(rule);
  return tally_->count(output().values(), count(specs_.size() - 1), oracle_arguments(), rule,
                       poison_seed_);
}

Comparison Workbench::compare_output(const AcceptanceRule& rule) {
  const auto view = device_->host_view(output().address(), output().bytes());
  const std::span<const float> got(reinterpret_cast<const float*>(view.data()),
                                   view.size() / sizeof(float));
  std::vector<std::span<const float>> inputs;
  for (std::size_t i = 0; i < streams_.size(); ++i) inputs.emplace_back(host_input(i));
  return compare(got, *op_->oracle(problem_, inputs), rule, poison_seed_);
}

}  // namespace fusebench
