// Looking at this machine, the server, a job's end or a log, and the findings about them.
//
// One thread; short programs are run and the server is asked.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "doctor/rules.h"
#include "terminal/screen.h"

namespace pondage::doctor {

using Findings = std::vector<Finding>;

// Driver, ports, cgroups, mounts.
Findings ExamineMachine(const terminal::Screen& screen);
// The present Python and its TensorFlow.
Findings ExaminePython(const terminal::Surroundings& around, const terminal::Screen& screen);
// The TensorFlow of a recorded environment.
Findings ExamineImage(client::Client& client, const std::string& image,
                      const terminal::Screen& screen);
// Whether it answers, its clock, certificate and disk.
Findings ExamineServer(const base::Result<client::Client*>& client, const terminal::Screen& screen);
// Why a job ended, and what its logs say.
base::Result<Findings> ExamineJob(client::Client& client, const std::string& space,
                                  const std::string& name, const terminal::Screen& screen);
base::Result<Findings> ExamineLog(const std::string& path, const terminal::Screen& screen);

}  // namespace pondage::doctor
