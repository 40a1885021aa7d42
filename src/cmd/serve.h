// `pondage serve`: flags and settings file in, a running pool until SIGTERM or SIGINT.
//
// Called once, from main's thread. Exit codes as for commands that do not stand for a job.
#pragma once

namespace pondage::cmd {

int ServeMain(int argc, char** argv);

}  // namespace pondage::cmd
