#include "harness/device/cpu/cpu_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/core/error.hpp"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace fusebench {
namespace {

// Of a huge page, which the system may use where it allows them for shared memory.
constexpr std::size_t alignment = std::size_t{2} << 20;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

class CpuRegion final : public Region {
 public:
  /// Maps `descriptor`, of which it becomes the owner when `owns`.
  CpuRegion(int descriptor, std::size_t bytes, int protection, bool owns)
      : bytes_(bytes), descriptor_(owns ? descriptor : -1) {
    // Reserved without access, the middle replaced: what stays on both sides can never be mapped by
    // anybody else in this process.
    reserved_bytes_ = bytes + 2 * alignment + page_bytes();
    reserved_ = mmap(nullptr, reserved_bytes_, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved_ == MAP_FAILED) fail("reserve addresses for");
    const auto first = reinterpret_cast<std::uintptr_t>(reserved_);
    const std::uintptr_t begin = (first + alignment) / alignment * alignment;
    address_ = mmap(reinterpret_cast<void*>(begin), bytes, protection,
                    MAP_SHARED | MAP_FIXED | MAP_POPULATE, descriptor, 0);
    if (address_ == MAP_FAILED) {
      const int reason = errno;
      (void)munmap(reserved_, reserved_bytes_);
      errno = reason;
      fail("map");
    }
    use_huge_pages();
  }
  ~CpuRegion() override {
    (void)munmap(reserved_, reserved_bytes_);
    if (descriptor_ >= 0) (void)close(descriptor_);
  }
  CpuRegion(const CpuRegion&) = delete;
  CpuRegion& operator=(const CpuRegion&) = delete;

  void* address() const noexcept override { return address_; }
  std::size_t bytes() const noexcept override { return bytes_; }
  int descriptor() const noexcept override { return descriptor_; }
  bool guarded() const noexcept override { return true; }
  void keep_to_this_process() noexcept {
    (void)close(descriptor_);
    descriptor_ = -1;
  }

 private:
  // Huge pages keep TLB misses, and so the luck of the page tables, out of the timings. Most systems give
  // none to shared memory unless asked for these very pages, which Linux 6.1 and later allow.
  void use_huge_pages() const {
    const std::size_t whole = bytes_ / alignment * alignment;
    if (whole > 0) (void)madvise(address_, whole, MADV_COLLAPSE);
  }

  [[noreturn]] void fail(const char* what) const {
    const std::string reason = std::strerror(errno);
    if (descriptor_ >= 0) (void)close(descriptor_);
    throw Unavailable("cannot {} {} bytes of shared memory: {}", what, bytes_, reason);
  }

  std::size_t bytes_;
  int descriptor_;
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  void* address_ = nullptr;
};

}  // namespace

std::unique_ptr<Region> make_cpu_region(std::size_t bytes, bool others_may_write) {
  const std::size_t page = page_bytes();
  const std::size_t rounded = (bytes == 0 ? page : (bytes + page - 1) / page * page);
  const int descriptor = memfd_create("fusebench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) throw Unavailable("no shared memory: {}", std::strerror(errno));
  // Allocated now: memory that is missing must be an answer here, not a signal on first touch.
  if (const int reason = posix_fallocate(descriptor, 0, static_cast<off_t>(rounded)); reason != 0) {
    (void)close(descriptor);
    throw Unavailable("no memory for {} more bytes: {}", bytes, std::strerror(reason));
  }
  auto region =
      std::make_unique<CpuRegion>(descriptor, rounded, PROT_READ | PROT_WRITE, /*owns=*/true);
  // Nobody may cut it short, which would kill whoever reads it, and no mapping but the one above may
  // write to what is read only. A system that cannot promise that gets no memory to share.
  const int seals =
      F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | (others_may_write ? 0 : F_SEAL_FUTURE_WRITE);
  if (fcntl(descriptor, F_ADD_SEALS, seals) != 0) region->keep_to_this_process();
  return region;
}

std::string cpu_sharing_refused() {
  try {
    if (make_cpu_region(1, /*others_may_write=*/false)->descriptor() >= 0) return "";
    return "the system cannot seal shared memory (Linux 5.1 and later can)";
  } catch (const Unavailable& reason) {
    return reason.what();
  }
}

std::unique_ptr<Region> open_cpu_region(int descriptor, std::size_t bytes, bool writable) {
  return std::make_unique<CpuRegion>(descriptor, bytes,
                                     writable ? PROT_READ | PROT_WRITE : PROT_READ,
                                     /*owns=*/false);
}

}  // namespace fusebench
