// The one file that includes NVIDIA's frontend, which takes as long to compile as all else together.
#include "harness/device/cuda/cudnn/cudnn_graph.hpp"

#include <cudnn_frontend.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/core/error.hpp"
#include "harness/device/cuda/cudnn/cudnn_library.hpp"
#include "harness/device/cuda/cudnn/cudnn_reason.hpp"

// The frontend looks every function of cuDNN up here.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace fusebench {
namespace {

namespace fe = cudnn_frontend;
using Attributes = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t alignment = 16;

void load() { fe::cudnn_dlhandle = cudnn_library(); }

void require(fe::error_t status, const char* step) {
  if (status.is_bad()) {
    throw Unavailable("cuDNN {} has no engine for this: {}: {}", cudnn_version(), step,
                      cudnn_reason(status.get_message()));
  }
}

// What a failing graph leaves behind are exceptions of its own.
template <typename Body>
auto translated(const char* step, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw Unavailable("cuDNN: {}: {}", step, cudnn_reason(exception.what()));
  }
}

fe::DataType_t type_of(CudnnType type) {
  return type == CudnnType::float32 ? fe::DataType_t::FLOAT : fe::DataType_t::BFLOAT16;
}

// Opens what the frontend keeps to itself: the list of engines, with their notes.
class Graph : public fe::graph::Graph {
 public:
  [[nodiscard]] fe::graph::Execution_plan_list& engines() { return plans; }
};

struct Stored {
  std::string name;
  std::int64_t uid;
  std::size_t bytes;
};

std::size_t bytes_of(const CudnnTensor& tensor) {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
    elements += (tensor.extents[i] - 1) * tensor.strides[i];
  }
  return static_cast<std::size_t>(elements) * (tensor.type == CudnnType::float32 ? 4 : 2);
}

struct Built {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Stored> stored;           // inputs and outputs in the order of their values
  std::vector<std::int64_t> positions;  // of what is offered among the frontend's plans
  std::vector<CudnnOffer> offers;
};

template <typename Step>
Step step_of(const CudnnConvolution& c) {
  return Step()
      .set_pre_padding(c.padding_before)
      .set_post_padding(c.padding_after)
      .set_stride(c.stride)
      .set_dilation(c.dilation);
}

Attributes lower(Graph& graph, const CudnnDescription::Node& node,
                 const std::vector<Attributes>& values) {
  using Kind = CudnnDescription::Kind;
  switch (node.kind) {
    case Kind::input:
      return graph.tensor(fe::graph::Tensor_attributes()
                              .set_name(node.name)
                              .set_dim(node.tensor.extents)
                              .set_stride(node.tensor.strides)
                              .set_data_type(type_of(node.tensor.type)));
    case Kind::convolve:
      return graph.conv_fprop(values[node.a], values[node.b],
                              step_of<fe::graph::Conv_fprop_attributes>(node.convolution));
    case Kind::convolve_backward: {
      Attributes image =
          graph.conv_dgrad(values[node.a], values[node.b],
                           step_of<fe::graph::Conv_dgrad_attributes>(node.convolution));
      image->set_dim(node.extents);
      return image;
    }
    case Kind::add:
    case Kind::multiply:
      return graph.pointwise(
          values[node.a], values[node.b],
          fe::graph::Pointwise_attributes().set_mode(
              node.kind == Kind::add ? fe::PointwiseMode_t::ADD : fe::PointwiseMode_t::MUL));
  }
  throw Error("cuDNN: a step of unknown kind");
}

void describe(Built& built, const CudnnDescription& description) {
  built.graph->set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  // A CUDA graph recorded from a plan never outlives it here, and the frontend would want libcudart.
  built.graph->set_cuda_graph_retention(fe::CudaGraphRetention_t::NONE);
  std::vector<Attributes> values;
  for (const CudnnDescription::Node& node : description.nodes()) {
    const auto uid = static_cast<std::int64_t>(values.size()) + 1;
    const Attributes value = lower(*built.graph, node, values);
    value->set_uid(uid);
    if (node.stored) {
      built.stored.push_back({node.name, uid, bytes_of(node.tensor)});
      if (node.kind != CudnnDescription::Kind::input) {
        value->set_output(true)
            .set_name(node.name)
            .set_dim(node.tensor.extents)
            .set_stride(node.tensor.strides)
            .set_data_type(type_of(node.tensor.type));
      }
    }
    values.push_back(value);
  }
}

bool lowers_precision(const std::vector<fe::NumericalNote_t>& notes) {
  return std::any_of(notes.begin(), notes.end(), [](fe::NumericalNote_t note) {
    return note == fe::NumericalNote_t::TENSOR_CORE ||
           note == fe::NumericalNote_t::DOWN_CONVERT_INPUTS ||
           note == fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION;
  });
}

// Sums in an order that changes from call to call: other bits each time.
bool is_nondeterministic(const std::vector<fe::NumericalNote_t>& notes) {
  return std::find(notes.begin(), notes.end(), fe::NumericalNote_t::NONDETERMINISTIC) !=
         notes.end();
}

// Engine 0 of "backward data" is the old ALGO_0, documented as not deterministic, yet 9.19 does not note it
// so; the verifier found other bits each time.
bool adds_atomically(const std::string& engine) {
  return engine == "eng0" || engine.rfind("eng0_", 0) == 0;
}

bool goes_backward(const CudnnDescription& description) {
  return std::any_of(description.nodes().begin(), description.nodes().end(), [](const auto& node) {
    return node.kind == CudnnDescription::Kind::convolve_backward;
  });
}

// An engine's notes are about the products it can sum, so they say nothing of a graph without any.
bool multiplies_matrices(const CudnnDescription& description) {
  using Kind = CudnnDescription::Kind;
  return std::any_of(description.nodes().begin(), description.nodes().end(), [](const auto& node) {
    return node.kind == Kind::convolve || node.kind == Kind::convolve_backward;
  });
}

void collect_offers(Built& built, bool any_arithmetic, bool backward) {
  fe::graph::Execution_plan_list& engines = built.graph->engines();
  const std::int64_t count = built.graph->get_execution_plan_count();
  std::int64_t lower_precision = 0;
  std::int64_t nondeterministic = 0;
  std::string refusal;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& notes = engines.numeric_notes[static_cast<std::size_t>(i)];
    if (!any_arithmetic && lowers_precision(notes)) {
      ++lower_precision;
      continue;
    }
    if (is_nondeterministic(notes)) {
      ++nondeterministic;
      continue;
    }
    fe::error_t status = engines.check_support_at_index(i);
    if (status.is_bad()) {
      if (refusal.empty()) refusal = status.get_message();
      continue;
    }
    CudnnOffer offer;
    require(engines.get_name_at_index(i, offer.name), "naming an engine");
    if (backward && adds_atomically(offer.name)) {
      ++nondeterministic;
      continue;
    }
    if (std::any_of(built.offers.begin(), built.offers.end(),
                    [&](const CudnnOffer& other) { return other.name == offer.name; })) {
      continue;  // the fallback list repeats what the heuristic gave
    }
    built.positions.push_back(i);
    built.offers.push_back(std::move(offer));
  }
  if (!built.offers.empty()) return;
  throw Unavailable(
      "cuDNN {} has no engine for this: of its {} plans {} round operands or sums, {} give other "
      "bits each time{}{}",
      cudnn_version(), count, lower_precision, nondeterministic, refusal.empty() ? "" : "; ",
      cudnn_reason(refusal));
}

Built build_graph(cudnnHandle_t handle,
                  const std::shared_ptr<const fe::DeviceProperties>& properties,
                  const CudnnDescription& description, CudnnMath math) {
  return translated("describing a graph", [&] {
    Built built;
    describe(built, description);
    if (properties != nullptr) built.graph->set_device_properties(properties);
    require(built.graph->validate(), "validating");
    require(built.graph->build_operation_graph(handle), "lowering");
    // Once: a second call puts the notes out of step with the engines.
    require(built.graph->create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}),
            "choosing engines");
    collect_offers(built, math == CudnnMath::tf32 || !multiplies_matrices(description),
                   goes_backward(description));
    return built;
  });
}

// One for the process, never destroyed: at exit the driver may be gone before it.
cudnnHandle_t handle_on(void* stream) {
  load();
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made = nullptr;
    const cudnnStatus_t status = fe::detail::create_handle(&made);
    if (status != CUDNN_STATUS_SUCCESS) {
      throw Unavailable("cuDNN {} cannot start: {}", cudnn_version(),
                        fe::detail::get_error_string(status));
    }
    return made;
  }();
  const cudnnStatus_t status = fe::detail::set_stream(handle, static_cast<cudaStream_t>(stream));
  if (status != CUDNN_STATUS_SUCCESS) {
    throw Error("cuDNN does not take the stream: {}", fe::detail::get_error_string(status));
  }
  return handle;
}

class BuiltPlan final : public CudnnPlan {
 public:
  BuiltPlan(CudaDevice& device, cudnnHandle_t handle, const Built& built, std::size_t index)
      : device_(device),
        handle_(handle),
        graph_(built.graph),
        stored_(built.stored),
        position_(built.positions.at(index)),
        offer_(built.offers.at(index)) {
    translated("building a plan", [&] {
      fe::error_t status = graph_->build_plan_at_index(position_);
      if (status.is_bad()) {
        throw Unavailable("cuDNN {} does not build its plan {}: {}", cudnn_version(), offer_.name,
                          cudnn_reason(status.get_message()));
      }
      require(graph_->get_workspace_size_plan_at_index(position_, offer_.workspace_bytes),
              "asking for a workspace");
    });
    workspace_ = device_.allocate(static_cast<std::size_t>(offer_.workspace_bytes));
    run_once();
  }

  void enqueue(std::span<const void* const> addresses) override {
    if (addresses.size() != stored_.size()) {
      throw Error("cuDNN: {} tensors were given to a graph of {}", addresses.size(),
                  stored_.size());
    }
    std::unordered_map<std::int64_t, void*> pack;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(addresses[i]);
      if (address % alignment != 0) {
        throw Unavailable("cuDNN needs tensors at multiples of {} bytes; {} is {} bytes off",
                          alignment, stored_[i].name, address % alignment);
      }
      pack.emplace(stored_[i].uid, const_cast<void*>(addresses[i]));
    }
    device_.count_library_call();
    fe::error_t status = translated("executing a plan", [&] {
      return graph_->execute_plan_at_index(handle_, pack, workspace_.address(), position_);
    });
    if (status.is_bad()) {
      throw Error("cuDNN {} did not run {}: {}", cudnn_version(), offer_.name,
                  cudnn_reason(status.get_message()));
    }
  }

  const CudnnOffer& offer() const override { return offer_; }

 private:
  // cuDNN loads a kernel when it first runs, which waits for the device; later calls must not.
  void run_once() {
    std::vector<Buffer> tensors;
    std::vector<const void*> addresses;
    for (const Stored& stored : stored_) {
      tensors.push_back(device_.allocate(stored.bytes));
      addresses.push_back(tensors.back().address());
    }
    enqueue(addresses);
    device_.synchronise();
  }

  CudaDevice& device_;
  cudnnHandle_t handle_;
  std::shared_ptr<Graph> graph_;
  std::vector<Stored> stored_;
  std::int64_t position_;
  CudnnOffer offer_;
  Buffer workspace_;
};

class DeviceGraph final : public CudnnGraph {
 public:
  DeviceGraph(CudaDevice& device, const CudnnDescription& description, CudnnMath math)
      : device_(device),
        handle_(handle_on(device.stream())),
        built_(build_graph(handle_, nullptr, description, math)) {}

  const std::vector<CudnnOffer>& offers() const override { return built_.offers; }
  std::unique_ptr<CudnnPlan> build(std::size_t index) override {
    return std::make_unique<BuiltPlan>(device_, handle_, built_, index);
  }

 private:
  CudaDevice& device_;
  cudnnHandle_t handle_;
  Built built_;
};

}  // namespace

std::optional<std::string> cudnn_missing() {
  try {
    (void)cudnn_version();
    return std::nullopt;
  } catch (const Unavailable& reason) {
    return reason.what();
  }
}

std::unique_ptr<CudnnGraph> make_cudnn_graph(CudaDevice& device,
                                             const CudnnDescription& description, CudnnMath math) {
  return std::make_unique<DeviceGraph>(device, description, math);
}

std::vector<CudnnOffer> cudnn_offers(const std::string& device_properties,
                                     const CudnnDescription& description, CudnnMath math) {
  load();
  const auto properties = std::make_shared<fe::DeviceProperties>();
  require(properties->deserialize({device_properties.begin(), device_properties.end()}),
          "reading the device's properties");
  return build_graph(nullptr, properties, description, math).offers;
}

std::string cudnn_version() {
  load();
  const std::size_t version = fe::detail::get_backend_version();  // 91900 is 9.19.0
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace fusebench
