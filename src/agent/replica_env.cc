#include "agent/replica_env.h"

#include <string_view>

namespace pondage::agent {
namespace {

constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void InFront(std::map<std::string, std::string>& env, const std::string& name,
             const std::string& directory, std::string_view otherwise) {
  std::string& value = env[name];
  if (value.empty()) value = otherwise;
  value = value.empty() ? directory : directory + ":" + value;
}

}  // namespace

std::map<std::string, std::string> MakeEnv(const ReplicaEnv& wanted) {
  std::map<std::string, std::string> env;
  for (const auto& [name, value] : wanted.pod) env[name] = value;
  env.try_emplace("HOME", wanted.account.home);
  env.try_emplace("USER", wanted.account.name);
  env.try_emplace("LOGNAME", wanted.account.name);
  env.try_emplace("LANG", "C.UTF-8");

  InFront(env, "PATH", wanted.prefix + "/bin", kPath);
  env.erase("PYTHONHOME");
  env.erase("VIRTUAL_ENV");
  if (wanted.is_virtual_environment) env["VIRTUAL_ENV"] = wanted.prefix;
  if (!wanted.python_dir.empty()) InFront(env, "PYTHONPATH", wanted.python_dir, "");
  return env;
}

}  // namespace pondage::agent
