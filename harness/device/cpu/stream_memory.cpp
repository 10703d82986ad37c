#include "harness/device/cpu/stream_memory.hpp"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace fusebench {
namespace {

void fill_words(std::byte* to, std::uint32_t word, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
    std::memcpy(to + i, &word, sizeof word);
  }
}

}  // namespace

#ifdef __SSE2__
namespace {
constexpr std::size_t line = 64;

std::size_t bytes_to_line(const void* address) noexcept {
  return (line - reinterpret_cast<std::uintptr_t>(address) % line) % line;
}
}  // namespace

void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t head = std::min(bytes, bytes_to_line(target));
  std::memcpy(target, source, head);
  std::size_t i = head;
  for (; i + line <= bytes; i += line) {
    const auto* in = reinterpret_cast<const __m128i*>(source + i);
    auto* out = reinterpret_cast<__m128i*>(target + i);
    const __m128i a = _mm_loadu_si128(in);
    const __m128i b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2);
    const __m128i d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  std::memcpy(target + i, source + i, bytes - i);
  _mm_sfence();
}

void stream_fill(void* to, std::uint32_t word, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const std::size_t head = std::min(bytes, bytes_to_line(target));
  fill_words(target, word, head);
  const __m128i value = _mm_set1_epi32(static_cast<int>(word));
  std::size_t i = head;
  for (; i + line <= bytes; i += line) {
    auto* out = reinterpret_cast<__m128i*>(target + i);
    for (int k = 0; k < 4; ++k) _mm_stream_si128(out + k, value);
  }
  fill_words(target + i, word, bytes - i);
  _mm_sfence();
}
#else
void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

void stream_fill(void* to, std::uint32_t word, std::size_t bytes) noexcept {
  fill_words(static_cast<std::byte*>(to), word, bytes);
}
#endif

}  // namespace fusebench
