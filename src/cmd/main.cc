#include "cmd/serve.h"

int main(int argc, char** argv) {
  return pondage::cmd::ServeMain(argc - 1, argv + 1);
}
