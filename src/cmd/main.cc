#include <csignal>
#include <string>
#include <vector>

#include "cmd/dispatch.h"
#include "cmd/serve.h"

int main(int argc, char** argv) {
  // `serve` has a parser of its own: what it takes is settings of a server, not of this client.
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "serve" && !pondage::cmd::AsksForHelp(words)) {
    return pondage::cmd::ServeMain(argc - 1, argv + 1);
  }
  std::signal(SIGPIPE, SIG_IGN);
  // As every program answers it, without a server.
  if (words.size() == 1 && words[0] == "--version")
    return pondage::cmd::Dispatch({"version", "--client"});
  return pondage::cmd::Dispatch(words);
}
