// Annotations in a program that isn't instrumented: they must compile to nothing.
#include <blackout/blackout.h>

int main() {
  blackout_op_begin("nothing", 0);
  blackout_op_end(0);
  return blackout_active();
}
