// How the wgmma kernel of tiles cuts a problem and shares it out, as its blocks compute it.
#include "variants/conv_transpose3d_residual/wgmma_work.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "harness/core/error.hpp"
#include "tests/seed.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

ConvTranspose3d doubling(std::int64_t n, std::int64_t d, std::int64_t h, std::int64_t w) {
  ConvTranspose3d sizes;
  sizes.n = n;
  sizes.in_channels = 32;
  sizes.out_channels = 64;
  sizes.input = {d, h, w};
  return sizes;
}

struct Case {
  std::int64_t n, d, h, w, blocks, runs, singles;
};

std::vector<Case> cases() {
  std::vector<Case> all = {{16, 16, 32, 32, 71, 8, 2}, {1, 1, 1, 1, 1, 1, 0},
                           {129, 2, 3, 33, 66, 8, 6},  {1, 1, 4, 32, 132, 32, 6},
                           {3, 17, 5, 64, 60, 4, 0},   {2, 5, 7, 9, 1, 8, 4}};
  std::mt19937_64 random(test::seed());
  const auto pick = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int i = 0; i < 300; ++i) {
    all.push_back({pick(9), pick(20), pick(40), pick(100), pick(140), pick(32), pick(7) - 1});
  }
  return all;
}

TEST(Divisor, IsExactAtTheEdgesOfQuotientsAndAtRandom) {
  std::mt19937_64 random(test::seed());
  constexpr unsigned most = (1U << 31U) - 1;
  for (int i = 0; i < 2000; ++i) {
    const auto by = static_cast<unsigned>(random() % (i % 2 == 0 ? 100 : most)) + 1;
    const Divisor divisor(by);
    const auto n = static_cast<unsigned>(random() % most);
    const unsigned edge = n / by * by;
    for (const unsigned m : {0U, n, edge, edge == 0 ? 0 : edge - 1, most}) {
      ASSERT_EQ(divisor.quotient(m), m / by) << m << " / " << by;
    }
  }
}

TEST(WgmmaWork, EveryItemIsTakenOnceAndTheFirstSegmentsOfABatchItemAreNumberedFromZero) {
  for (const Case& one : cases()) {
    Tiles tiles = tiles_of(doubling(one.n, one.d, one.h, one.w));
    share_out(tiles, one.blocks, one.runs, one.singles);
    std::vector<int> taken(tiles.items);
    std::set<std::pair<unsigned, unsigned>> numbered;  // batch item, of_batch of runs
    for (unsigned number = 0;; ++number) {
      const Segment segment = segment_at(tiles, number);
      if (segment.length == 0) {
        // Nor is there one after: a block that finds none ends.
        for (unsigned beyond = 1; beyond < 300; ++beyond) {
          ASSERT_EQ(segment_at(tiles, number + beyond).length, 0U);
        }
        break;
      }
      const Item first = item_at(tiles, segment.first);
      if (!segment.halved) {
        ASSERT_TRUE(numbered.insert({first.n, segment.of_batch}).second);
      } else {
        ASSERT_EQ(segment.length, 1U);
      }
      for (unsigned i = 0; i < segment.length; ++i) {
        const unsigned index = segment.first + i * tiles.plane_items;
        ASSERT_LT(index, tiles.items);
        ++taken[index];
        const Item item = item_at(tiles, index);
        ASSERT_EQ(item.n, first.n);
        ASSERT_EQ(item.d, first.d + i);
        ASSERT_EQ(item.h0, first.h0);
        ASSERT_EQ(item.w0, first.w0);
      }
      // The plane after the last item's, where that exists.
      const bool deepest = first.d + segment.length == static_cast<unsigned>(one.d);
      ASSERT_EQ(segment.planes, segment.length + (deepest ? 0 : 1));
    }
    for (const int times : taken) ASSERT_EQ(times, 1);
    // 0, 1, 2, ... in each batch item that is taken in runs.
    unsigned batch = ~0U;
    unsigned next = 0;
    for (const auto& [n, of_batch] : numbered) {
      if (n != batch) next = 0;
      batch = n;
      ASSERT_EQ(of_batch, next++);
    }
  }
}

TEST(WgmmaWork, TilesCoverEveryRowAndColumnOnceButTheSharedLastOnes) {
  for (const Case& one : cases()) {
    const Tiles tiles = tiles_of(doubling(one.n, one.d, one.h, one.w));
    std::vector<int> rows(static_cast<std::size_t>(one.h));
    std::vector<int> columns(static_cast<std::size_t>(one.w));
    for (unsigned i = 0; i < tiles.plane_items; ++i) {
      const Item item = item_at(tiles, i);
      ASSERT_EQ(item.n, 0U);
      ASSERT_EQ(item.d, 0U);
      ASSERT_EQ(item.w0 % 4, 0U) << "a bulk copy that begins there is an illegal instruction";
      if (item.w0 == 0) {
        for (unsigned r = item.h0; r < std::min(item.h0 + tile_rows, static_cast<unsigned>(one.h));
             ++r)
          ++rows[r];
      }
      if (item.h0 == 0) {
        // What a tile writes: the last column only where the row ends.
        const unsigned left = static_cast<unsigned>(one.w) - item.w0;
        const unsigned written = left > tile_columns ? column_step : left;
        for (unsigned c = item.w0; c < item.w0 + written; ++c) ++columns[c];
      }
    }
    for (const int times : rows) ASSERT_EQ(times, 1);
    for (const int times : columns) ASSERT_EQ(times, 1);
  }
}

TEST(WgmmaWork, AProblemOfMoreTilesThanAreCountedIsUnavailable) {
  EXPECT_THROW((void)tiles_of(doubling(1 << 20, 1 << 9, 1, 1)), Unavailable);
  EXPECT_EQ(tiles_of(doubling((1 << 20) - 1, 1 << 9, 1, 1)).items, (1U << 29U) - (1U << 9U));
}

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
