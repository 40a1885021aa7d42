// The subcommands, one function each: what it prints goes to stdout, its exit code is the result.
//
// Called once, from main's thread.
#pragma once

#include <string_view>

#include "base/result.h"

namespace pondage::cmd {

class Context;

base::Result<int> RunMain(Context& context);
base::Result<int> ApplyMain(Context& context);
base::Result<int> DeleteMain(Context& context);
base::Result<int> PsMain(Context& context);
base::Result<int> ShowMain(Context& context);
base::Result<int> ExplainMain(Context& context);
base::Result<int> LogsMain(Context& context);
base::Result<int> ExecMain(Context& context);
base::Result<int> WaitMain(Context& context);
base::Result<int> StopMain(Context& context);
base::Result<int> SuspendMain(Context& context);
base::Result<int> ResumeMain(Context& context);
base::Result<int> RerunMain(Context& context);
base::Result<int> TopMain(Context& context);
base::Result<int> QueueMain(Context& context);
base::Result<int> NodesMain(Context& context);
base::Result<int> EnvMain(Context& context);
base::Result<int> TokenMain(Context& context);
base::Result<int> BackupMain(Context& context);
base::Result<int> SimulateMain(Context& context);
base::Result<int> DoctorMain(Context& context);
base::Result<int> ReportMain(Context& context);
base::Result<int> ConfigMain(Context& context);
base::Result<int> CompletionMain(Context& context);
base::Result<int> ManMain(Context& context);
base::Result<int> VersionMain(Context& context);
base::Result<int> HelpMain(Context& context);

using Main = base::Result<int> (*)(Context& context);
// The function of a command of the table; none for `serve`, which is no client.
Main MainOf(std::string_view command);

}  // namespace pondage::cmd
