#include "doctor/examine.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <openssl/x509.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "client/kube.h"
#include "submission/program.h"
#include "terminal/text.h"

namespace pondage::doctor {

namespace json = boost::json;
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kLogTail = 2 << 20;

Finding CheckDriver(const terminal::Screen& screen) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  std::error_code error;
  const bool device = std::filesystem::exists("/dev/nvidia0", error);
  if (library == nullptr) {
    if (!device) {
      return {"driver", Grade::kNote,
              screen.Pick("no NVIDIA driver; jobs run on the CPU",
                          "没有 NVIDIA 驱动; 作业在 CPU 上运行"),
              screen.Pick("to try GPU jobs without one: pondage serve --virtual-gpus 8",
                          "没有 GPU 时试用: pondage serve --virtual-gpus 8")};
    }
    return {
        "driver", Grade::kBroken,
        screen.Pick("a GPU is there, libnvidia-ml.so.1 is not", "有 GPU, 但缺少 libnvidia-ml.so.1"),
        screen.Pick("install the driver's libraries (nvidia-driver-libs)",
                    "安装驱动库 (nvidia-driver-libs)")};
  }
  using Init = int (*)();
  using Text = int (*)(char*, unsigned);
  const auto init = reinterpret_cast<Init>(dlsym(library, "nvmlInit_v2"));
  const auto version = reinterpret_cast<Text>(dlsym(library, "nvmlSystemGetDriverVersion"));
  char text[96] = "";
  const int failed = init == nullptr ? 1 : init();
  if (failed == 0 && version != nullptr) version(text, sizeof text);
  dlclose(library);
  if (failed != 0) {
    return {"driver", Grade::kBroken,
            fmt::format(fmt::runtime(screen.Pick("NVML does not start (code {})",
                                                 "NVML 无法启动 (代码 {})")),
                        failed),
            screen.Pick("nvidia-smi says more; after an upgrade of the driver: reboot",
                        "运行 nvidia-smi 查看; 升级驱动后需重启")};
  }
  return {"driver", Grade::kGood, std::string("NVIDIA ") + text, ""};
}

Finding CheckDisk(const std::string& path, const terminal::Screen& screen) {
  struct statvfs room = {};
  if (statvfs(path.c_str(), &room) != 0) {
    return {"disk", Grade::kBroken,
            fmt::format(fmt::runtime(screen.Pick("{} cannot be read", "{} 无法读取")), path), ""};
  }
  const auto block = static_cast<std::int64_t>(room.f_frsize);
  return JudgeDisk({static_cast<std::int64_t>(room.f_bavail) * block},
                   {static_cast<std::int64_t>(room.f_blocks) * block}, path, screen);
}

Finding CheckCgroups(const terminal::Screen& screen) {
  std::error_code error;
  const bool v2 = std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers", error);
  const bool v1 = std::filesystem::exists("/sys/fs/cgroup/memory", error);
  if (!v2 && !v1) {
    return {
        "cgroups", Grade::kWarning,
        screen.Pick("none: memory and CPU limits are not enforced",
                    "没有 cgroup: 无法强制内存和 CPU 限制"),
        screen.Pick("run under systemd, or mount cgroup2", "在 systemd 下运行, 或挂载 cgroup2")};
  }
  if (!v2) return {"cgroups", Grade::kGood, "v1", ""};
  const std::string controllers =
      client::ReadWholeFile("/sys/fs/cgroup/cgroup.controllers").value_or("");
  for (const char* wanted : {"memory", "pids", "cpu"}) {
    if (controllers.find(wanted) == std::string::npos) {
      return {"cgroups", Grade::kWarning,
              fmt::format(fmt::runtime(screen.Pick("v2 without {}", "v2 缺少 {}")), wanted),
              screen.Pick("the unit needs Delegate=yes", "服务单元需要 Delegate=yes")};
    }
  }
  return {"cgroups", Grade::kGood, "v2", ""};
}

Finding CheckMounts(const terminal::Screen& screen) {
  const auto tried = submission::RunProgram({"bwrap", "--ro-bind", "/", "/", "true"}, 10s);
  if (!tried) {
    return {"mounts", Grade::kWarning,
            screen.Pick("bubblewrap is not installed: jobs with volumes are refused",
                        "未安装 bubblewrap: 带卷的作业会被拒绝"),
            "apt install bubblewrap"};
  }
  if (tried->exit_code != 0) {
    return {"mounts", Grade::kWarning,
            screen.Pick("user namespaces are off: jobs with volumes are refused",
                        "用户命名空间已关闭: 带卷的作业会被拒绝"),
            "sysctl -w kernel.unprivileged_userns_clone=1"};
  }
  return {"mounts", Grade::kGood, screen.Pick("bubblewrap works", "bubblewrap 可用"), ""};
}

// The end of the certificate that a PEM text holds first.
std::optional<base::Instant> EndOf(const std::optional<std::string>& der) {
  if (!der) return std::nullopt;
  const auto* bytes = reinterpret_cast<const unsigned char*>(der->data());
  X509* certificate = d2i_X509(nullptr, &bytes, static_cast<long>(der->size()));
  if (certificate == nullptr) return std::nullopt;
  std::tm parts{};
  const bool read = ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) == 1;
  X509_free(certificate);
  return read ? std::optional(base::Instant{static_cast<std::int64_t>(timegm(&parts)) * 1000})
              : std::nullopt;
}

std::vector<std::string> TextsIn(const json::value& object, const char* member) {
  std::vector<std::string> texts;
  for (const json::value& text : client::Items(object, {member})) {
    if (text.is_string()) texts.emplace_back(text.get_string());
  }
  return texts;
}

}  // namespace

Findings ExamineServer(const base::Result<client::Client*>& client,
                       const terminal::Screen& screen) {
  Findings findings;
  auto version = client ? (*client)->Get("/version")
                        : base::Result<json::value>(std::unexpected(client.error()));
  if (!version) {
    findings.push_back(
        {"server", Grade::kWarning, terminal::Split(version.error().message, '\n')[0],
         screen.Pick("pondage serve, or set KUBECONFIG", "运行 pondage serve, 或设置 KUBECONFIG")});
    findings.push_back(CheckDisk("/", screen));
    return findings;
  }
  findings.push_back({"server", Grade::kGood, (*client)->place().Url(), ""});
  if (const auto at = (*client)->ServerTime())
    findings.push_back(JudgeClock(terminal::Now(), *at, screen));
  if ((*client)->place().tls)
    findings.push_back(
        JudgeCertificate(EndOf((*client)->ServerCertificate()), terminal::Now(), screen));
  const auto info = (*client)->Get("/pondage/v1/info");
  const std::string data = info ? client::Text(*info, {"dataDir"}) : "";
  std::error_code error;
  findings.push_back(
      CheckDisk(!data.empty() && std::filesystem::exists(data, error) ? data : "/", screen));
  if (info) {
    for (Finding& finding :
         JudgeStore(TextsIn(*info, "unreadable"), TextsIn(*info, "damage"), screen))
      findings.push_back(std::move(finding));
    for (const std::string& text : TextsIn(*info, "promises"))
      findings.push_back({"queues", Grade::kWarning, text, "pondage queue"});
    if (const std::string why = client::Text(*info, {"limitsNotEnforced"}); !why.empty()) {
      findings.push_back(
          {"limits", Grade::kWarning,
           fmt::format(fmt::runtime(screen.Pick("the server enforces not every limit of a job: {}",
                                                "服务器无法强制作业的全部限制: {}")),
                       why),
           screen.Pick("the server's unit needs Delegate=yes", "服务单元需要 Delegate=yes")});
    }
  }
  return findings;
}

Findings ExamineImage(client::Client& client, const std::string& image,
                      const terminal::Screen& screen) {
  const auto known = client.Get("/pondage/v1/environments");
  if (!known) return {};
  for (const json::value& entry : client::Items(*known, {"environments"})) {
    if (client::Text(entry, {"image"}) != image) continue;
    const std::string python = client::Text(entry, {"path"}) + "/bin/python";
    return {JudgeTensorFlow(submission::AskTensorFlow(python), python, screen)};
  }
  return {{"tensorflow", Grade::kBroken,
           fmt::format(fmt::runtime(screen.Pick("no environment {}", "没有环境 {}")), image),
           "pondage env add IMAGE PATH"}};
}

Findings ExaminePython(const terminal::Surroundings& around, const terminal::Screen& screen) {
  const auto python = submission::PresentPython(around);
  if (!python) {
    return {{"python", Grade::kWarning, terminal::Split(python.error().message, '\n')[0],
             "apt install python3-venv"}};
  }
  return {{"python", Grade::kGood, fmt::format("{} {}", python->version, python->prefix), ""},
          JudgeTensorFlow(submission::AskTensorFlow(python->program), python->prefix, screen)};
}

Findings ExamineMachine(const terminal::Screen& screen) {
  const std::string ports =
      client::ReadWholeFile("/proc/sys/net/ipv4/ip_local_port_range").value_or("");
  return {CheckDriver(screen), JudgePorts(ports, screen), CheckCgroups(screen),
          CheckMounts(screen)};
}

base::Result<Findings> ExamineJob(client::Client& client, const std::string& space,
                                  const std::string& name, const terminal::Screen& screen) {
  TRY(const json::value object, client.Get(client::TfJobPath(space, name)));
  const view::JobView job = view::ViewJob(object);
  Findings findings = JudgeFailure(job, screen);
  for (const auto& [role, count] : job.asked) {
    for (int i = 0; i < count; ++i) {
      std::string log;
      const std::string pod = fmt::format("{}-{}-{}", job.name, role, i);
      const auto read =
          client.Bytes(client::PodPath(space, pod) + "/log?container=tensorflow&tailLines=2000",
                       [&](std::string_view bytes) {
                         log += bytes;
                         return log.size() < kLogTail;
                       },
                       {});
      if (!read) continue;
      for (Finding& finding : JudgeLog(log, screen)) {
        finding.text = fmt::format("{}/{}: {}", role, i, finding.text);
        findings.push_back(std::move(finding));
      }
    }
  }
  return findings;
}

base::Result<Findings> ExamineLog(const std::string& path, const terminal::Screen& screen) {
  const auto log = client::ReadWholeFile(path);
  if (!log)
    return base::Fail(base::Kind::kInvalid, "PND-C010", "", fmt::format("cannot read {}", path));
  auto found = JudgeLog(*log, screen);
  if (found.empty())
    found.push_back({"log", Grade::kGood, screen.Pick("nothing known in it", "没有已知问题"), ""});
  return found;
}

}  // namespace pondage::doctor
