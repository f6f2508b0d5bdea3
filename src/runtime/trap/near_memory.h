// Memory for code that a loaded file must reach with a jump of 32 bits, and that must reach the file's data. It is
// taken from the free space nearest to the file, below it if possible: above the program there is its heap, which
// grows.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

// `size` writable bytes (whole pages), all of them within 2 GB of all of [begin, end). 0: there are none.
uintptr_t mapNear(uintptr_t begin, uintptr_t end, size_t size);

struct AddressRange {
  uintptr_t begin;
  uintptr_t end;
};

// Maps what is free within 2 GB of all of [begin, end), so that nothing is put there: without any right, and without
// taking memory. At most `most` stretches; says how many they are. The heap has room to grow.
int keepFree(uintptr_t begin, uintptr_t end, AddressRange* kept, int most);

}  // namespace blackout::rt
