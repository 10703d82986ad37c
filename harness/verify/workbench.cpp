#include "harness/verify/workbench.hpp"

#include <fmt/format.h>

#include <span>

#include "harness/core/error.hpp"
#include "harness/core/generator.hpp"
#include "harness/device/cpu/thread_pool.hpp"

namespace fusebench {
namespace {

constexpr std::uint64_t poison_stream = 0x501504;
constexpr std::int64_t grain = 4096;

std::vector<float> make_input(const TensorSpec& spec, std::uint64_t seed) {
  const std::int64_t count = element_count(spec.shape);
  std::vector<float> values(static_cast<std::size_t>(count));
  const std::uint64_t stream = stream_of(seed, spec.recipe);
  shared_pool().for_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      values[static_cast<std::size_t>(i)] =
          input_value(spec.recipe, stream, static_cast<std::uint64_t>(i));
    }
  });
  return values;
}

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
    throw Unavailable("{} needs {:.1f} GB, more than half of the memory of {}", what,
                      static_cast<double>(bytes) / 1e9, traits.name);
  }
}

Workbench::Workbench(const Operator& op, const Problem& problem, std::uint64_t seed, Device& device)
    : op_(&op), device_(&device), seed_(seed), poison_seed_(seed), specs_(op.tensors(problem)) {
  // The host holds the judge's inputs, and the output for comparing, whatever the device.
  const std::string what = "problem " + problem.to_string();
  require_memory(what, total_bytes(specs_), device.traits());
  // Looked up once: a workbench is made for every odd size of every configuration.
  static const DeviceTraits host = probe_device(DeviceKind::cpu).traits.value();
  require_memory(what, total_bytes(specs_), host);
  std::vector<void*> addresses;
  std::vector<std::span<const float>> inputs;
  for (const TensorSpec& spec : specs_) {
    const std::int64_t count = element_count(spec.shape);
    buffers_.emplace_back(device, spec.name, static_cast<std::size_t>(count) * sizeof(float));
    addresses.push_back(buffers_.back().address());
    if (spec.role == TensorRole::output) continue;
    host_inputs_.push_back(make_input(spec, seed));
    device.generate(static_cast<float*>(buffers_.back().address()), count, spec.recipe, seed);
    fingerprints_.push_back(device.fingerprint(buffers_.back().address(), buffers_.back().bytes()));
  }
  for (const auto& values : host_inputs_) inputs.emplace_back(values);
  table_ = TensorTable(std::move(addresses));
  oracle_ = op.oracle(problem, inputs);
}

void Workbench::prepare() {
  for (std::size_t i = 0; i < host_inputs_.size(); ++i) {
    if (device_->fingerprint(buffers_[i].address(), buffers_[i].bytes()) == fingerprints_[i])
      continue;
    device_->generate(static_cast<float*>(buffers_[i].address()), element_count(specs_[i].shape),
                      specs_[i].recipe, seed_);
  }
  poison_seed_ = random_bits(poison_stream, poison_seed_);
  device_->poison(static_cast<float*>(buffers_.back().address()),
                  element_count(specs_.back().shape), poison_seed_);
  for (GuardedBuffer& buffer : buffers_) buffer.arm();
}

std::optional<std::string> Workbench::tampering() {
  for (std::size_t i = 0; i < host_inputs_.size(); ++i) {
    if (device_->fingerprint(buffers_[i].address(), buffers_[i].bytes()) != fingerprints_[i]) {
      return fmt::format("input {} was changed by the call", specs_[i].name);
    }
  }
  for (GuardedBuffer& buffer : buffers_) {
    if (auto broken = buffer.broken()) return broken;
  }
  return std::nullopt;
}

Comparison Workbench::compare_output(Precision precision) {
  const GuardedBuffer& output = buffers_.back();
  const auto view = device_->host_view(output.address(), output.bytes());
  const std::span<const float> got(reinterpret_cast<const float*>(view.data()),
                                   view.size() / sizeof(float));
  const ErrorBound bound =
      precision == Precision::exact_order ? ErrorBound{} : op_->bound(precision);
  return compare(got, *oracle_, precision, bound, poison_seed_);
}

}  // namespace fusebench
