#include "tests/emulation/products.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "tests/emulation/formats.hpp"
#include "tests/emulation/host_block.hpp"

namespace fusebench::emulation {
namespace {

constexpr unsigned most_k = 16;
constexpr unsigned columns = 128;

struct Product {
  Operand operand;
  float* d;
  std::uint64_t a, b;
  bool add;
};

struct Threads {
  std::vector<Product> open;
  std::deque<std::vector<Product>> groups;  // committed and not done
};

// A matrix's descriptor (PTX ISA, "Matrix-Descriptor Format").
struct Matrix {
  unsigned address, leading, stride, swizzle_bits;
  explicit Matrix(std::uint64_t descriptor)
      : address(static_cast<unsigned>(descriptor & 0x3FFF) << 4U),
        leading(static_cast<unsigned>(descriptor >> 16U & 0x3FFF) << 4U),
        stride(static_cast<unsigned>(descriptor >> 32U & 0x3FFF) << 4U),
        swizzle_bits(4 - static_cast<unsigned>(descriptor >> 62U)) {}
};

// All 65,536 of them: a product asks for hundreds.
const std::vector<float>& fp16_values() {
  static const std::vector<float> values = [] {
    std::vector<float> all(1U << 16U);
    for (unsigned bits = 0; bits < all.size(); ++bits) {
      all[bits] = float_of_fp16(static_cast<std::uint16_t>(bits));
    }
    return all;
  }();
  return values;
}

// The word at so many bytes of the matrix, as its layout has them.
std::uint32_t word(const Matrix& matrix, unsigned byte) {
  const unsigned address = swizzled(matrix.address + byte, matrix.swizzle_bits);
  HostBlock::current().require_published(address);
  std::uint32_t bits = 0;
  std::memcpy(&bits, fusebench_shared_memory + address, sizeof bits);
  return bits;
}

// The elements that a word holds: two, or one.
void spread(Operand operand, std::uint32_t bits, float* to) {
  if (operand == Operand::tf32) {
    to[0] = std::bit_cast<float>(bits & 0xFFFFE000U);
  } else if (operand == Operand::bf16) {
    to[0] = std::bit_cast<float>(bits << 16U);
    to[1] = std::bit_cast<float>(bits & 0xFFFF0000U);
  } else {
    to[0] = fp16_values()[bits & 0xFFFFU];
    to[1] = fp16_values()[bits >> 16U];
  }
}

// Rows of K, 8 after 8, `stride` apart.
unsigned k_major(const Matrix& matrix, unsigned row, unsigned k_byte) {
  const unsigned row_bytes = 16U << matrix.swizzle_bits;
  return row / 8 * matrix.stride + row % 8 * row_bytes + k_byte;
}

// Rows of N, so many columns as a row has bytes for, `leading` apart; rows of 8 K's after 8, `stride` apart.
unsigned n_major(const Matrix& matrix, unsigned k, unsigned n) {
  const unsigned row_bytes = 16U << matrix.swizzle_bits;
  const unsigned of_row = row_bytes / 2;
  return n / of_row * matrix.leading + k / 8 * matrix.stride + k % 8 * row_bytes + n % of_row * 2;
}

// Columns 8 j + 2 (lane % 4) and the next: those whose sums a thread holds, two a word of B where N is contiguous.
using OfThread = std::array<float, columns / 4>;

void load_b(const Product& product, unsigned lane, std::array<OfThread, most_k>& to) {
  const Matrix b(product.b);
  for (unsigned i = 0; i < columns / 4; i += 2) {
    const unsigned column = i * 4 + lane % 4 * 2;
    if (product.operand == Operand::tf32) {
      for (unsigned k = 0; k < 8; ++k) {
        spread(product.operand, word(b, k_major(b, column, k * 4)), &to[k][i]);
        spread(product.operand, word(b, k_major(b, column + 1, k * 4)), &to[k][i + 1]);
      }
    } else {
      for (unsigned k = 0; k < most_k; ++k) {
        spread(product.operand, word(b, n_major(b, k, column)), &to[k][i]);
      }
    }
  }
}

void multiply(const Product& product) {
  const Matrix a(product.a);
  const unsigned lane = thread_index.x % 32;
  const unsigned first_row = thread_index.x % 128 / 32 * 16 + lane / 4;
  const std::size_t of_word = product.operand == Operand::tf32 ? 1 : 2;
  std::array<OfThread, most_k> of_b;
  load_b(product, lane, of_b);
  for (unsigned half = 0; half < 2; ++half) {
    std::array<float, most_k> of_a{};
    for (unsigned i = 0; i < 8; ++i) {
      spread(product.operand, word(a, k_major(a, first_row + 8 * half, 4 * i)), &of_a[i * of_word]);
    }
    std::array<double, columns / 4> sums{};
    for (std::size_t k = 0; k < 8 * of_word; ++k) {
      for (unsigned i = 0; i < sums.size(); ++i)
        sums[i] += static_cast<double>(of_a[k]) * of_b[k][i];
    }
    for (unsigned i = 0; i < sums.size(); ++i) {
      float& d = product.d[i / 2 * 4 + half * 2 + i % 2];
      d = static_cast<float>((product.add ? static_cast<double>(d) : 0.0) + sums[i]);
    }
  }
}

thread_local std::vector<Threads> of_threads(1024);

Threads& mine() { return of_threads[thread_index.x]; }

void finish_all_but(std::size_t newest) {
  auto& groups = mine().groups;
  while (groups.size() > newest) {
    for (const Product& product : groups.front()) multiply(product);
    groups.pop_front();
  }
}

}  // namespace

void begin_product(Operand operand, float* d, std::uint64_t a, std::uint64_t b, bool add) {
  mine().open.push_back({operand, d, a, b, add});
}

void commit_products() {
  mine().groups.push_back(std::exchange(mine().open, {}));
  if (HostBlock::current().toss()) finish_all_but(0);
}

void forget_products() { of_threads.assign(of_threads.size(), {}); }

void wait_for_products(unsigned newest) {
  finish_all_but(newest);
  (void)HostBlock::current().exchange("wgmma.wait_group", 0);
}

}  // namespace fusebench::emulation
