#include "tests/emulation/copies.hpp"

#include <bit>
#include <cstring>

#include "tests/emulation/host_block.hpp"
#include "tests/emulation/products.hpp"

namespace fusebench::emulation {
namespace {

constexpr unsigned row_bytes = 128;

const TensorBoxes& boxes_of(const TensorMap& map) {
  return *reinterpret_cast<const TensorBoxes*>(map.words[0]);
}

// Zero beyond the tensor.
float element(const TensorBoxes& boxes, const std::array<std::uint64_t, 5>& at) {
  const auto* byte = reinterpret_cast<const std::byte*>(boxes.address);
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] >= boxes.extents[i]) return 0.0F;
    byte += at[i] * (i == 0 ? sizeof(float) : boxes.strides[i - 1]);
  }
  return *reinterpret_cast<const float*>(byte);
}

}  // namespace

TensorMap map_of(const TensorBoxes& boxes) {
  TensorMap map{};
  map.words[0] = reinterpret_cast<std::uintptr_t>(&boxes);
  return map;
}

void copy_box(unsigned to, const TensorMap& map, const std::array<std::uint64_t, 5>& at,
              unsigned barrier) {
  HostBlock& block = HostBlock::current();
  const TensorBoxes& boxes = boxes_of(map);
  if (at[0] % 4 != 0) block.fail("a box begins at no multiple of 16 bytes");
  if (to % row_bytes != 0) block.fail("a box goes to no multiple of 128 bytes");
  unsigned row = 0;
  std::array<std::uint64_t, 5> from = at;
  for (from[4] = at[4]; from[4] < at[4] + boxes.box[4]; ++from[4]) {
    for (from[3] = at[3]; from[3] < at[3] + boxes.box[3]; ++from[3]) {
      for (from[2] = at[2]; from[2] < at[2] + boxes.box[2]; ++from[2]) {
        const unsigned rows = boxes.box[1];
        block.copy_begins(to + row * row_bytes, rows * row_bytes);
        block.later([&block, &boxes, from, rows, barrier, begin = to + row * row_bytes]() mutable {
          for (unsigned i = 0; i < rows; ++i, ++from[1]) {
            for (unsigned column = 0; column < boxes.box[0]; ++column) {
              std::array<std::uint64_t, 5> place = from;
              place[0] += column;
              const float value = element(boxes, place);
              std::memcpy(fusebench_shared_memory + swizzled(begin + i * row_bytes + column * 4, 3),
                          &value, sizeof value);
            }
          }
          block.copy_ends(begin, rows * row_bytes);
          block.barrier_complete(barrier, rows * row_bytes);
        });
        row += rows;
      }
    }
  }
}

void require_multiple_of_16(const void* from, unsigned bytes) {
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0 || bytes % 16 != 0) {
    HostBlock::current().fail("a bulk copy of no multiple of 16 bytes, or at none");
  }
}

void copy_bulk(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  HostBlock& block = HostBlock::current();
  require_multiple_of_16(from, bytes);
  block.copy_begins(to, bytes);
  block.later([=, &block] {
    std::memcpy(fusebench_shared_memory + to, from, bytes);
    block.copy_ends(to, bytes);
    block.barrier_complete(barrier, bytes);
  });
}

}  // namespace fusebench::emulation
