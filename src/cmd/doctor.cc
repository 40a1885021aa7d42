#include "cmd/doctor.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <openssl/x509.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cmd/context.h"
#include "cmd/kube.h"
#include "cmd/mains.h"
#include "cmd/output.h"
#include "cmd/program.h"
#include "cmd/text.h"
#include "cmd/trouble.h"

namespace pondage::cmd {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kLogTail = 2 << 20;

Finding CheckDriver(const Screen& screen) {
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

Finding CheckDisk(const std::string& path, const Screen& screen) {
  struct statvfs room = {};
  if (statvfs(path.c_str(), &room) != 0) {
    return {"disk", Grade::kBroken,
            fmt::format(fmt::runtime(screen.Pick("{} cannot be read", "{} 无法读取")), path), ""};
  }
  const auto block = static_cast<std::int64_t>(room.f_frsize);
  return JudgeDisk({static_cast<std::int64_t>(room.f_bavail) * block},
                   {static_cast<std::int64_t>(room.f_blocks) * block}, path, screen);
}

Finding CheckCgroups(const Screen& screen) {
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
  const std::string controllers = ReadWholeFile("/sys/fs/cgroup/cgroup.controllers").value_or("");
  for (const char* wanted : {"memory", "pids", "cpu"}) {
    if (controllers.find(wanted) == std::string::npos) {
      return {"cgroups", Grade::kWarning,
              fmt::format(fmt::runtime(screen.Pick("v2 without {}", "v2 缺少 {}")), wanted),
              screen.Pick("the unit needs Delegate=yes", "服务单元需要 Delegate=yes")};
    }
  }
  return {"cgroups", Grade::kGood, "v2", ""};
}

Finding CheckMounts(const Screen& screen) {
  const auto tried = RunProgram({"bwrap", "--ro-bind", "/", "/", "true"}, 10s);
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

class Doctor {
 public:
  explicit Doctor(Context& context) : context_(context), screen_(context.screen()) {}

  std::vector<Finding> Machine();
  void Server();
  void TensorFlow();
  base::Result<void> Job(const std::string& name);
  base::Result<void> Log(const std::string& path);
  std::vector<Finding> findings;

 private:
  Context& context_;
  const Screen& screen_;
};

void Doctor::Server() {
  auto client = context_.Server();
  auto version = client ? (*client)->Get("/version")
                        : base::Result<json::value>(std::unexpected(client.error()));
  if (!version) {
    findings.push_back({"server", Grade::kWarning, Split(version.error().message, '\n')[0],
                        screen_.Pick("pondage serve, or set KUBECONFIG",
                                     "运行 pondage serve, 或设置 KUBECONFIG")});
    findings.push_back(CheckDisk("/", screen_));
    return;
  }
  findings.push_back({"server", Grade::kGood, (*client)->place().Url(), ""});
  if (const auto at = (*client)->ServerTime()) findings.push_back(JudgeClock(Now(), *at, screen_));
  if ((*client)->place().tls)
    findings.push_back(JudgeCertificate(EndOf((*client)->ServerCertificate()), Now(), screen_));
  const auto info = (*client)->Get("/pondage/v1/info");
  const std::string data = info ? Text(*info, {"dataDir"}) : "";
  std::error_code error;
  findings.push_back(
      CheckDisk(!data.empty() && std::filesystem::exists(data, error) ? data : "/", screen_));
}

void Doctor::TensorFlow() {
  const auto& line = context_.line();
  if (line.Has("image")) {
    auto client = context_.Server();
    auto known = client ? (*client)->Get("/pondage/v1/environments")
                        : base::Result<json::value>(std::unexpected(client.error()));
    if (!known) return;
    for (const json::value& entry : Items(*known, {"environments"})) {
      if (Text(entry, {"image"}) != line.Value("image")) continue;
      const std::string python = Text(entry, {"path"}) + "/bin/python";
      findings.push_back(JudgeTensorFlow(AskTensorFlow(python), python, screen_));
      return;
    }
    findings.push_back({"tensorflow", Grade::kBroken,
                        fmt::format(fmt::runtime(screen_.Pick("no environment {}", "没有环境 {}")),
                                    line.Value("image")),
                        "pondage env add IMAGE PATH"});
    return;
  }
  const auto python = PresentPython(context_.around());
  if (!python) {
    findings.push_back({"python", Grade::kWarning, Split(python.error().message, '\n')[0],
                        "apt install python3-venv"});
    return;
  }
  findings.push_back(
      {"python", Grade::kGood, fmt::format("{} {}", python->version, python->prefix), ""});
  findings.push_back(JudgeTensorFlow(AskTensorFlow(python->program), python->prefix, screen_));
}

std::vector<Finding> Doctor::Machine() {
  findings.push_back(CheckDriver(screen_));
  TensorFlow();
  findings.push_back(
      JudgePorts(ReadWholeFile("/proc/sys/net/ipv4/ip_local_port_range").value_or(""), screen_));
  findings.push_back(CheckCgroups(screen_));
  findings.push_back(CheckMounts(screen_));
  Server();
  return findings;
}

base::Result<void> Doctor::Job(const std::string& name) {
  TRY(Client * client, context_.Server());
  TRY(const std::string space, context_.Space());
  TRY(const json::value object, client->Get(TfJobPath(space, name)));
  const JobView job = ViewJob(object);
  for (Finding& finding : JudgeFailure(job, screen_)) findings.push_back(std::move(finding));
  for (const auto& [role, count] : job.asked) {
    for (int i = 0; i < count; ++i) {
      std::string log;
      const std::string pod = fmt::format("{}-{}-{}", job.name, role, i);
      const auto read =
          client->Bytes(PodPath(space, pod) + "/log?container=tensorflow&tailLines=2000",
                        [&](std::string_view bytes) {
                          log += bytes;
                          return log.size() < kLogTail;
                        },
                        {});
      if (!read) continue;
      for (Finding& finding : JudgeLog(log, screen_)) {
        finding.text = fmt::format("{}/{}: {}", role, i, finding.text);
        findings.push_back(std::move(finding));
      }
    }
  }
  return {};
}

base::Result<void> Doctor::Log(const std::string& path) {
  const auto log = ReadWholeFile(path);
  if (!log)
    return base::Fail(base::Kind::kInvalid, "PND-C010", "", fmt::format("cannot read {}", path));
  auto found = JudgeLog(*log, screen_);
  if (found.empty())
    found.push_back({"log", Grade::kGood, screen_.Pick("nothing known in it", "没有已知问题"), ""});
  for (Finding& finding : found) findings.push_back(std::move(finding));
  return {};
}

struct GradeRow {
  Grade grade;
  const char *name, *english, *chinese;
  Tint tint;
};
constexpr GradeRow kGrades[] = {{Grade::kGood, "good", "good", "正常", Tint::kGreen},
                                {Grade::kNote, "note", "note", "提示", Tint::kCyan},
                                {Grade::kWarning, "warning", "warning", "警告", Tint::kYellow},
                                {Grade::kBroken, "broken", "broken", "故障", Tint::kRed}};

}  // namespace

base::Result<int> DoctorMain(Context& context) {
  Doctor doctor(context);
  const Invocation& line = context.line();
  if (line.Has("job")) {
    TRY_DO(doctor.Job(line.Value("job")));
  } else if (line.Has("log")) {
    TRY_DO(doctor.Log(line.Value("log")));
  } else {
    doctor.Machine();
  }
  const Screen& screen = context.screen();
  Listing listing;
  listing.schema = "pondage.doctor/1";
  bool broken = false;
  std::string out;
  for (const Finding& finding : doctor.findings) {
    const GradeRow& row = *std::ranges::find(kGrades, finding.grade, &GradeRow::grade);
    broken = broken || finding.grade == Grade::kBroken;
    listing.items.push_back(json::object{
        {"name", finding.name},
        {"verdict", row.name},
        {"text", finding.text},
        {"remedy", finding.remedy.empty() ? json::value(nullptr) : json::value(finding.remedy)}});
    out += fmt::format("{}  {}  {}\n",
                       screen.Out(row.tint, Pad(screen.Pick(row.english, row.chinese), 8)),
                       Pad(finding.name, 12), Plain(finding.text));
    if (!finding.remedy.empty())
      out += fmt::format("                        {}: {}\n", screen.Pick("do", "处理"),
                         finding.remedy);
  }
  const bool table = screen.format == Format::kTable || screen.format == Format::kWide;
  context.Print(table ? out : Render(listing, screen, Now()));
  return broken ? kNegative : kDone;
}

}  // namespace pondage::cmd
