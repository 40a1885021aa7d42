#include <cstdio>

int main() {
  std::puts("pondage " PONDAGE_VERSION);
  return 0;
}
