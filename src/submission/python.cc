#include "submission/python.h"

#include <fmt/core.h>
#include <openssl/sha.h>

#include <array>
#include <chrono>

#include "submission/program.h"
#include "terminal/text.h"

namespace pondage::submission {
namespace {

using namespace std::chrono_literals;

constexpr const char* kWhere =
    "import sys; print(sys.prefix); print(sys.executable); print(sys.version.split()[0])";
constexpr const char* kPackages =
    "from importlib import metadata as m\n"
    "def v(*names):\n"
    "    for n in names:\n"
    "        try: return m.version(n)\n"
    "        except m.PackageNotFoundError: pass\n"
    "    return ''\n"
    "print(v('tensorflow', 'tensorflow-cpu', 'tensorflow-gpu', 'tf-nightly'))\n"
    "print(v('keras'))\n"
    "print(v('tf_keras', 'tf-keras'))\n";

}  // namespace

base::Result<Python> PresentPython(const terminal::Surroundings& around) {
  const std::string environment = around.Variable("VIRTUAL_ENV");
  const std::string program = environment.empty() ? "python3" : environment + "/bin/python";
  const auto asked = RunProgram({program, "-c", kWhere}, 20s);
  const auto lines = asked ? terminal::Split(asked->output, '\n') : std::vector<std::string>();
  if (!asked || asked->exit_code != 0 || lines.size() < 3 || lines[0].empty()) {
    return base::Fail(base::Kind::kInvalid, "PND-C017", "",
                      environment.empty()
                          ? std::string("there is no python3 on the PATH: activate a virtual "
                                        "environment, or name a Python that the pool has "
                                        "(pondage env) with --image")
                          : fmt::format("{} cannot be started; VIRTUAL_ENV is {}: activate one "
                                        "that is there, or name a Python that the pool has "
                                        "(pondage env) with --image",
                                        program, environment));
  }
  return Python{lines[0], lines[1], lines[2]};
}

std::optional<TensorFlowFacts> AskTensorFlow(const std::string& program) {
  const auto asked = RunProgram({program, "-c", kPackages}, 20s);
  if (!asked || asked->exit_code != 0) return std::nullopt;
  const auto lines = terminal::Split(asked->output, '\n');
  if (lines.size() < 3) return std::nullopt;
  return TensorFlowFacts{lines[0], lines[1], lines[2]};
}

std::string LocalImage(const std::string& prefix) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(prefix.data()), prefix.size(), digest.data());
  std::string hex;
  for (int i = 0; i < 6; ++i) hex += fmt::format("{:02x}", digest[static_cast<std::size_t>(i)]);
  return "local/" + hex;
}

}  // namespace pondage::submission
