#include "harness/device/cuda/cuda_region.hpp"

#include <cuda.h>
#include <unistd.h>

#include <cstdint>

#include "harness/core/error.hpp"
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench {
namespace {

bool has(CUdevice_attribute which) {
  int value = 0;
  FUSEBENCH_CUDA(DeviceGetAttribute, &value, which, 0);
  return value != 0;
}

CUmemAllocationProp properties() {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.location.id = 0;
  if (!cuda_sharing_refused()) {
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  }
  return wanted;
}

std::size_t page_bytes() {
  const CUmemAllocationProp wanted = properties();
  std::size_t bytes = 0;
  FUSEBENCH_CUDA(MemGetAllocationGranularity, &bytes, &wanted,
                 CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  return bytes;
}

class MappedRegion final : public Region {
 public:
  /// Takes the handle; `descriptor` too, when it is not -1.
  MappedRegion(CUmemGenericAllocationHandle handle, int descriptor, std::size_t bytes,
               std::size_t page, bool writable)
      : bytes_(bytes), page_(page), descriptor_(descriptor), handle_(handle) {
    try {
      FUSEBENCH_CUDA(MemAddressReserve, &reserved_, bytes_ + 2 * page_, 0, 0, 0);
      FUSEBENCH_CUDA(MemMap, reserved_ + page_, bytes_, 0, handle_, 0);
      mapped_ = true;
      CUmemAccessDesc access{};
      access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      access.location.id = 0;
      access.flags = writable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
      FUSEBENCH_CUDA(MemSetAccess, reserved_ + page_, bytes_, &access, 1);
    } catch (...) {
      release();
      throw;
    }
  }
  ~MappedRegion() override { release(); }
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;

  void* address() const noexcept override { return reinterpret_cast<void*>(reserved_ + page_); }
  std::size_t bytes() const noexcept override { return bytes_; }
  int descriptor() const noexcept override { return descriptor_; }
  bool guarded() const noexcept override { return true; }

 private:
  // Unchecked: after an illegal address every call fails, and the process ends soon anyway.
  void release() noexcept {
    if (mapped_) (void)driver().MemUnmap(reserved_ + page_, bytes_);
    if (reserved_ != 0) (void)driver().MemAddressFree(reserved_, bytes_ + 2 * page_);
    (void)driver().MemRelease(handle_);
    if (descriptor_ >= 0) (void)close(descriptor_);
  }

  std::size_t bytes_;
  std::size_t page_;
  int descriptor_;
  CUmemGenericAllocationHandle handle_;
  CUdeviceptr reserved_ = 0;
  bool mapped_ = false;
};

class PlainRegion final : public Region {
 public:
  explicit PlainRegion(std::size_t bytes) : bytes_(bytes) {
    FUSEBENCH_CUDA(MemAlloc, &address_, bytes);
  }
  ~PlainRegion() override { (void)driver().MemFree(address_); }
  PlainRegion(const PlainRegion&) = delete;
  PlainRegion& operator=(const PlainRegion&) = delete;

  void* address() const noexcept override { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const noexcept override { return bytes_; }
  int descriptor() const noexcept override { return -1; }
  bool guarded() const noexcept override { return false; }

 private:
  std::size_t bytes_;
  CUdeviceptr address_ = 0;
};

}  // namespace

std::optional<std::string> cuda_sharing_refused() {
  if (!has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) {
    return "the device has no virtual memory management";
  }
  if (!has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) {
    return "the driver cannot export device memory as a file descriptor";
  }
  return std::nullopt;
}

std::unique_ptr<Region> make_cuda_region(std::size_t bytes) {
  if (!has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) {
    return std::make_unique<PlainRegion>(bytes == 0 ? 1 : bytes);
  }
  const CUmemAllocationProp wanted = properties();
  const std::size_t page = page_bytes();
  const std::size_t rounded = bytes == 0 ? page : (bytes + page - 1) / page * page;
  CUmemGenericAllocationHandle handle = 0;
  FUSEBENCH_CUDA(MemCreate, &handle, rounded, &wanted, 0);
  int descriptor = -1;
  if (wanted.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    const CUresult exported = driver().MemExportToShareableHandle(
        &descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (exported != CUDA_SUCCESS) {
      (void)driver().MemRelease(handle);
      driver().check(exported, "cuMemExportToShareableHandle");
    }
  }
  return std::make_unique<MappedRegion>(handle, descriptor, rounded, page, /*writable=*/true);
}

std::unique_ptr<Region> open_cuda_region(int descriptor, std::size_t bytes, bool writable) {
  const std::size_t page = page_bytes();
  CUmemGenericAllocationHandle handle = 0;
  FUSEBENCH_CUDA(MemImportFromShareableHandle, &handle,
                 reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  return std::make_unique<MappedRegion>(handle, -1, bytes, page, writable);
}

}  // namespace fusebench
