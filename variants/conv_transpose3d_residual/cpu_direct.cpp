// Each output gathered from its inputs, on all cores: tiles of output positions by output channels stay in
// registers over all input channels, and the epilogue runs on rows that are still in a core's own cache.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "harness/device/cpu/thread_pool.hpp"
#include "variants/conv_transpose3d_residual/cpu_packed.hpp"
#include "variants/conv_transpose3d_residual/cpu_tile.hpp"
#include "variants/conv_transpose3d_residual/cpu_variant.hpp"
#include "variants/residual_epilogue/cpu_rows.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

std::int64_t count_of(const std::vector<Phase>& phases) {
  return static_cast<std::int64_t>(phases.size());
}
const Phase& at(const std::vector<Phase>& phases, std::int64_t index) {
  return phases[static_cast<std::size_t>(index)];
}
bool within(std::int64_t value, std::int64_t extent) { return value >= 0 && value < extent; }

class Direct {
 public:
  Direct(const ConvTranspose3d& sizes, const Configuration& configuration);
  void run(const CpuCall& call);

 private:
  // What a thread works in.
  struct Desk {
    std::vector<float> sums;  // c as [channel][phase of width][row][vectors of the row]
    std::vector<float> row;   // a row of c in its own order
    std::vector<float> start;
    std::vector<TileTap> taps;
  };
  // As many rows of one height phase as a tile has vectors, of every channel of a group.
  struct Task {
    std::int64_t item, group, depth, height, first_row, rows;
  };

  void pack(const CpuCall& call);
  [[nodiscard]] Task task(std::int64_t index) const;
  void sum(const Task& task, const CpuCall& call, Desk& desk);
  void list_taps(const Task& task, const Phase& width, std::int64_t first, std::int64_t vectors,
                 std::vector<TileTap>& taps) const;
  [[nodiscard]] TileTap tile_tap(const Task& task, std::int64_t in_depth, const PhaseTap& height,
                                 const PhaseTap& width_tap, const Phase& width, std::int64_t first,
                                 std::int64_t vectors) const;
  void finish(const Task& task, const CpuCall& call, Desk& desk) const;
  [[nodiscard]] const float* in_order(const float* sums, std::int64_t row, Desk& desk) const;
  [[nodiscard]] std::int64_t vectors_of(const Phase& width) const {
    return (width.count + lanes_ - 1) / lanes_;
  }

  ConvTranspose3d sizes_;
  PerDimension output_;
  std::vector<Phase> depths_, heights_, widths_;
  std::int64_t channels_, vectors_;  // of a tile
  std::int64_t lanes_ = tile_lanes();
  TileFunction tile_;
  bool streaming_;
  PackedInput x_;
  PackedWeights w_;
  std::int64_t out_of_group_;
  std::int64_t row_groups_;  // of the height phase that has most
  std::int64_t plane_;       // floats of one channel's and width phase's rows on a desk
  std::vector<Desk> desks_;
};

Direct::Direct(const ConvTranspose3d& sizes, const Configuration& configuration)
    : sizes_(sizes),
      output_(sizes.output()),
      depths_(phases_of(sizes, 0)),
      heights_(phases_of(sizes, 1)),
      widths_(phases_of(sizes, 2)),
      channels_(configuration.integer("channels")),
      vectors_(configuration.integer("vectors")),
      tile_(tile_function(channels_, vectors_)),
      streaming_(configuration.text("store") == "streaming"),
      x_(sizes, widths_, lanes_),
      w_(sizes, channels_),
      out_of_group_(sizes.out_channels / sizes.groups),
      row_groups_((heights_.front().count + vectors_ - 1) / vectors_),
      plane_(vectors_ * vectors_of(widths_.front()) * lanes_),
      desks_(static_cast<std::size_t>(shared_pool().size())) {
  const std::int64_t channels = w_.blocks_of_a_group() * channels_;
  for (Desk& desk : desks_) {
    desk.sums.resize(static_cast<std::size_t>(channels * count_of(widths_) * plane_));
    desk.row.resize(static_cast<std::size_t>(count_of(widths_) * plane_));
    desk.start.resize(static_cast<std::size_t>(channels));
    desk.taps.reserve(static_cast<std::size_t>(sizes.taps()));
  }
}

void Direct::run(const CpuCall& call) {
  pack(call);
  const std::int64_t tasks =
      sizes_.n * sizes_.groups * output_[0] * count_of(heights_) * row_groups_;
  std::atomic<std::int64_t> next = 0;
  shared_pool().run(shared_pool().size(), [&](int thread) {
    Desk& desk = desks_[static_cast<std::size_t>(thread)];
    for (std::int64_t i = next++; i < tasks; i = next++) {
      const Task one = task(i);
      if (one.rows <= 0) continue;
      sum(one, call, desk);
      finish(one, call, desk);
    }
    residual_epilogue::stream_fence();
  });
}

void Direct::pack(const CpuCall& call) {
  shared_pool().for_ranges(x_.rows(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) x_.pack(call.x, row);
  });
  const std::int64_t blocks = sizes_.groups * w_.blocks_of_a_group();
  shared_pool().for_ranges(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) w_.pack(call.w, block);
  });
}

// Tasks that share inputs follow one another.
Direct::Task Direct::task(std::int64_t index) const {
  const auto next = [&](std::int64_t extent) {
    const std::int64_t value = index % extent;
    index /= extent;
    return value;
  };
  Task task{};
  task.height = next(count_of(heights_));
  task.first_row = next(row_groups_) * vectors_;
  task.rows = std::min(vectors_, at(heights_, task.height).count - task.first_row);
  task.depth = next(output_[0]);
  task.group = next(sizes_.groups);
  task.item = index;
  return task;
}

void Direct::sum(const Task& task, const CpuCall& call, Desk& desk) {
  if (call.conv_bias != nullptr) {
    const float* const bias = call.conv_bias + task.group * out_of_group_;
    std::copy(bias, bias + out_of_group_, desk.start.begin());
  }
  const std::int64_t channel_step = count_of(widths_) * plane_;
  for (std::int64_t phase = 0; phase < count_of(widths_); ++phase) {
    const Phase& width = at(widths_, phase);
    const std::int64_t total = task.rows * vectors_of(width);
    for (std::int64_t first = 0; first < total; first += vectors_) {
      list_taps(task, width, first, std::min(vectors_, total - first), desk.taps);
      float* to = desk.sums.data() + phase * plane_ + first * lanes_;
      for (std::int64_t block = 0; block < w_.blocks_of_a_group(); ++block) {
        tile_({.taps = desk.taps.data(),
               .tap_count = static_cast<std::int64_t>(desk.taps.size()),
               .w = w_.of_block(task.group * w_.blocks_of_a_group() + block),
               .in_channels = sizes_.in_channels / sizes_.groups,
               .x_step = x_.step(),
               .start = desk.start.data() + block * channels_,
               .sums = to,
               .channel_step = channel_step});
        to += channels_ * channel_step;
      }
    }
  }
}

// For the tile of `vectors` vectors from number `first` of the task's rows on.
void Direct::list_taps(const Task& task, const Phase& width, std::int64_t first,
                       std::int64_t vectors, std::vector<TileTap>& taps) const {
  taps.clear();
  for (const PhaseTap& depth : at(depths_, task.depth % count_of(depths_)).taps) {
    const std::int64_t in_depth = task.depth / count_of(depths_) + depth.shift;
    if (!within(in_depth, sizes_.input[0])) continue;
    for (const PhaseTap& height : at(heights_, task.height).taps) {
      for (const PhaseTap& width_tap : width.taps) {
        TileTap tap = tile_tap(task, in_depth, height, width_tap, width, first, vectors);
        const std::int64_t number =
            (depth.tap * sizes_.kernel[1] + height.tap) * sizes_.kernel[2] + width_tap.tap;
        tap.w = number * w_.step();
        taps.push_back(tap);
      }
    }
  }
}

TileTap Direct::tile_tap(const Task& task, std::int64_t in_depth, const PhaseTap& height,
                         const PhaseTap& width_tap, const Phase& width, std::int64_t first,
                         std::int64_t vectors) const {
  TileTap tap{};
  tap.whole = true;
  const std::int64_t slab =
      ((task.item * sizes_.groups + task.group) * sizes_.input[0] + in_depth) * sizes_.input[1];
  for (std::int64_t p = 0; p < vectors_; ++p) {
    const auto i = static_cast<std::size_t>(p);
    tap.x[i] = x_.anywhere();  // for a vector without a valid lane
    if (p >= vectors) continue;
    const std::int64_t row = task.first_row + (first + p) / vectors_of(width);
    const std::int64_t begin = (first + p) % vectors_of(width) * lanes_;
    const std::int64_t in_row = row + height.shift;
    const std::int64_t in_begin = begin + width_tap.shift;
    const std::int64_t first_lane = std::max<std::int64_t>(0, -in_begin);
    const std::int64_t last_lane = std::min(lanes_, sizes_.input[2] - in_begin);
    if (within(in_row, sizes_.input[1]) && first_lane < last_lane) {
      tap.x[i] = x_.at(slab + in_row, in_begin);
      tap.first[i] = first_lane;
      tap.last[i] = last_lane;
    }
    if (tap.first[i] > 0 || tap.last[i] < std::min(lanes_, width.count - begin)) tap.whole = false;
  }
  return tap;
}

void Direct::finish(const Task& task, const CpuCall& call, Desk& desk) const {
  const auto apply = streaming_ ? residual_epilogue::row_stepwise_streaming  //
                                : residual_epilogue::row_stepwise;
  for (std::int64_t c = 0; c < out_of_group_; ++c) {
    const std::int64_t channel = task.group * out_of_group_ + c;
    const float* const sums = desk.sums.data() + c * count_of(widths_) * plane_;
    const std::int64_t volume = (task.item * sizes_.out_channels + channel) * output_[0];
    for (std::int64_t row = 0; row < task.rows; ++row) {
      const std::int64_t height = (task.first_row + row) * count_of(heights_) + task.height;
      float* const y = call.y + ((volume + task.depth) * output_[1] + height) * output_[2];
      apply(in_order(sums, row, desk), call.b[channel], y, output_[2], /*unroll=*/1);
    }
  }
}

// The outputs of a row, whose phases stand apart in `sums`.
const float* Direct::in_order(const float* sums, std::int64_t row, Desk& desk) const {
  const auto from = [&](std::int64_t phase) {
    return sums + phase * plane_ + row * vectors_of(at(widths_, phase)) * lanes_;
  };
  const std::int64_t phases = count_of(widths_);
  if (phases == 1) return from(0);
  if (phases == 2) {
    interleave(from(0), from(1), desk.row.data(), widths_.front().count);
  } else {
    for (std::int64_t phase = 0; phase < phases; ++phase) {
      const float* const values = from(phase);
      for (std::int64_t j = 0; j < at(widths_, phase).count; ++j) {
        desk.row[static_cast<std::size_t>(j * phases + phase)] = values[j];
      }
    }
  }
  return desk.row.data();
}

const bool registered = add_cpu_variant({
    .name = "cpu_direct",
    .idea =
        "gathered from packed inputs in register tiles, epilogue in cache: what fusing is worth",
    .precision = Precision::float32,
    .parameters = ParameterSpace({{"channels", integers({4, 8, 12}), "8"},
                                  {"vectors", integers({1, 2, 3}), "2"},
                                  {"store", {"streaming", "cached"}, "streaming"}},
                                 {"channels * vectors <= 24"}),
    .plan = [](const ConvTranspose3d& sizes, const Configuration& configuration) -> CpuPlan {
      return {[direct = std::make_shared<Direct>(sizes, configuration)](const CpuCall& call) {
        direct->run(call);
      }};
    },
    .unavailable = tiles_unavailable(),
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
