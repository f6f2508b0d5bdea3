// A shared library that a test loads, and what the loader says of it.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <string>

#include "runtime/trap/patches.h"

class LoadedFile {
 public:
  explicit LoadedFile(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) return;
    link_map* map = nullptr;
    dlinfo(handle_, RTLD_DI_LINKMAP, &map);
    base_ = map->l_addr;
    name_ = map->l_name;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* argument) {
          auto& self = *static_cast<LoadedFile*>(argument);
          if (info->dlpi_addr != self.base_ || self.name_ != info->dlpi_name) return 0;
          self.info_ = *info;
          return 1;
        },
        this);
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info_.dlpi_phdr[i];
      if (p.p_type != PT_LOAD) continue;
      if (begin_ == 0) begin_ = base_ + p.p_vaddr;
      end_ = base_ + p.p_vaddr + p.p_memsz;
    }
  }
  ~LoadedFile() {
    if (handle_ == nullptr) return;
    blackout::rt::forgetPatches(begin_, end_);
    dlclose(handle_);
  }
  LoadedFile(const LoadedFile&) = delete;
  LoadedFile& operator=(const LoadedFile&) = delete;

  bool loaded() const { return handle_ != nullptr; }
  // As the loader names it.
  const std::string& name() const { return name_; }
  blackout::rt::PatchTarget target() const { return {begin_, end_, &info_}; }
  template <typename T>
  T find(const char* symbol) const {
    return reinterpret_cast<T>(dlsym(handle_, symbol));
  }

 private:
  void* handle_;
  uintptr_t base_ = 0;
  uintptr_t begin_ = 0;
  uintptr_t end_ = 0;
  std::string name_;
  dl_phdr_info info_ = {};
};
