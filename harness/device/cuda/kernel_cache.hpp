// Compiled kernels kept on disk under a hash of everything that went into them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusebench {

class KernelCache {
 public:
  /// An empty folder keeps nothing.
  explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}

  struct Entry {
    std::string log;  ///< the compiler's, for the resource report
    std::string cubin;
  };
  /// nullopt when there is none or it is torn.
  [[nodiscard]] std::optional<Entry> find(const std::string& key) const;
  /// Writes beside and renames, so that a reader never sees half an entry. A full disk costs only
  /// the entry.
  void keep(const std::string& key, const Entry& entry) const;

 private:
  std::string folder_;
};

/// 128 bits of hash over the parts and their lengths, as 32 hexadecimal digits.
[[nodiscard]] std::string hash_of(const std::vector<std::string_view>& parts);

}  // namespace fusebench
