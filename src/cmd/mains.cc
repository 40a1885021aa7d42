#include "cmd/mains.h"

#include <utility>

namespace pondage::cmd {

Main MainOf(std::string_view command) {
  static constexpr std::pair<std::string_view, Main> kMains[] = {
      {"run", RunMain},       {"apply", ApplyMain},       {"delete", DeleteMain},
      {"ps", PsMain},         {"show", ShowMain},         {"explain", ExplainMain},
      {"logs", LogsMain},     {"exec", ExecMain},         {"wait", WaitMain},
      {"stop", StopMain},     {"suspend", SuspendMain},   {"resume", ResumeMain},
      {"rerun", RerunMain},   {"top", TopMain},           {"queue", QueueMain},
      {"nodes", NodesMain},   {"env", EnvMain},           {"token", TokenMain},
      {"backup", BackupMain}, {"simulate", SimulateMain}, {"doctor", DoctorMain},
      {"report", ReportMain}, {"config", ConfigMain},     {"completion", CompletionMain},
      {"man", ManMain},       {"version", VersionMain},   {"help", HelpMain},
  };
  for (const auto& [name, main] : kMains) {
    if (name == command) return main;
  }
  return nullptr;
}

}  // namespace pondage::cmd
