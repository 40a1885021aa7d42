#include "doctor/rules.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>

#include "terminal/text.h"

namespace pondage::doctor {
namespace {

// "2.17" of "2.17.0": major * 1000 + minor; 0 when it cannot be read.
int MinorOf(const std::string& version) {
  int major = 0;
  int minor = 0;
  return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

constexpr int kLastWithKeras2 = 2015;  // TensorFlow 2.15 is the last that has Keras 2 inside

}  // namespace

Finding JudgeTensorFlow(const std::optional<submission::TensorFlowFacts>& facts,
                        const std::string& python, const terminal::Screen& screen) {
  Finding finding{"tensorflow", Grade::kGood, "", ""};
  if (!facts) {
    return {
        "tensorflow", Grade::kWarning,
        fmt::format(fmt::runtime(screen.Pick("{} cannot be asked", "无法询问 {}")), python),
        screen.Pick("activate the virtual environment that jobs use", "激活作业使用的虚拟环境")};
  }
  if (facts->version.empty()) {
    return {
        "tensorflow", Grade::kWarning,
        fmt::format(fmt::runtime(screen.Pick("not installed for {}", "{} 中未安装")), python),
        screen.Pick("pip install 'tensorflow[and-cuda]', or activate the environment that has it",
                    "pip install 'tensorflow[and-cuda]', 或激活已安装的环境")};
  }
  finding.text = fmt::format("TensorFlow {}", facts->version);
  if (!facts->keras.empty()) finding.text += ", Keras " + facts->keras;
  if (!facts->tf_keras.empty()) finding.text += ", tf_keras " + facts->tf_keras;
  const bool keras3 = MinorOf(facts->version) > kLastWithKeras2;
  if (!keras3) return finding;
  if (facts->tf_keras.empty()) {
    finding.grade = Grade::kNote;
    finding.text += screen.Pick("; model.fit on several workers needs tf_keras",
                                "; 多 worker 的 model.fit 需要 tf_keras");
    finding.remedy = fmt::format("pip install --no-deps 'tf_keras=={}.{}.*'",
                                 MinorOf(facts->version) / 1000, MinorOf(facts->version) % 1000);
  } else if (MinorOf(facts->tf_keras) != MinorOf(facts->version)) {
    finding.grade = Grade::kWarning;
    finding.text +=
        screen.Pick("; tf_keras is of another minor version", "; tf_keras 的次版本不同");
    finding.remedy = fmt::format("pip install --no-deps 'tf_keras=={}.{}.*'",
                                 MinorOf(facts->version) / 1000, MinorOf(facts->version) % 1000);
  } else {
    finding.text += screen.Pick("; fit on several workers: pondage run --legacy-keras",
                                "; 多 worker 使用 fit: pondage run --legacy-keras");
  }
  return finding;
}

bool NamesAnotherTensorFlow(const std::string& image, const std::string& version) {
  const std::size_t tag = image.rfind(':');
  if (tag == std::string::npos || !image.substr(0, tag).contains("tensorflow")) return false;
  const int named = MinorOf(image.substr(tag + 1));
  return named != 0 && MinorOf(version) != 0 && named != MinorOf(version);
}

Finding JudgePorts(const std::string& range, const terminal::Screen& screen) {
  int low = 0;
  int high = 0;
  if (std::sscanf(range.c_str(), "%d %d", &low, &high) != 2) {
    return {"ports", Grade::kNote,
            screen.Pick("the range of ephemeral ports cannot be read", "无法读取临时端口范围"), ""};
  }
  const std::string text =
      fmt::format(fmt::runtime(screen.Pick("jobs 20000-29999, ephemeral {}-{}",
                                           "作业 20000-29999, 临时端口 {}-{}")),
                  low, high);
  if (low > 29999 || high < 20000) return {"ports", Grade::kGood, text, ""};
  return {"ports", Grade::kWarning,
          text + screen.Pick(": other programs may take a job's port first",
                             ": 其他程序可能先占用作业的端口"),
          "sysctl -w net.ipv4.ip_local_port_range=\"32768 60999\""};
}

Finding JudgeDisk(base::Bytes free, base::Bytes total, const std::string& path,
                  const terminal::Screen& screen) {
  const std::string text =
      fmt::format(fmt::runtime(screen.Pick("{} of {} free at {}", "{2} 剩余 {0}, 共 {1}")),
                  terminal::SizeText(free), terminal::SizeText(total), path);
  const std::int64_t gib = std::int64_t{1} << 30;
  const char* remedy = screen.Pick(
      "delete finished jobs (pondage delete), old checkpoints, or move the data directory",
      "删除已结束的作业 (pondage delete), 旧检查点, 或移动数据目录");
  if (free.value < gib) return {"disk", Grade::kBroken, text, remedy};
  if (free.value < 10 * gib || free.value * 20 < total.value)
    return {"disk", Grade::kWarning, text, remedy};
  return {"disk", Grade::kGood, text, ""};
}

Finding JudgeClock(base::Instant here, base::Instant server, const terminal::Screen& screen) {
  const std::int64_t apart =
      here.unix_ms > server.unix_ms ? here.unix_ms - server.unix_ms : server.unix_ms - here.unix_ms;
  const std::string text =
      fmt::format(fmt::runtime(screen.Pick("{:.1f} s from the server's", "与服务器相差 {:.1f} 秒")),
                  static_cast<double>(apart) / 1000);
  if (apart < 3'000) return {"clock", Grade::kGood, text, ""};
  return {"clock", apart < 60'000 ? Grade::kWarning : Grade::kBroken, text,
          "timedatectl set-ntp true"};
}

Finding JudgeCertificate(std::optional<base::Instant> expires, base::Instant now,
                         const terminal::Screen& screen) {
  if (!expires)
    return {"certificate", Grade::kNote, screen.Pick("its end cannot be read", "无法读取有效期"),
            ""};
  const char* remedy = screen.Pick("restart pondage serve: it makes a new one in time",
                                   "重启 pondage serve, 它会及时更新证书");
  if (*expires < now) {
    return {"certificate", Grade::kBroken,
            fmt::format(fmt::runtime(screen.Pick("expired on {}", "已于 {} 过期")),
                        terminal::Rfc3339(*expires)),
            remedy};
  }
  const std::string text = fmt::format(fmt::runtime(screen.Pick("valid for {}", "有效期还有 {}")),
                                       terminal::LongAge(*expires - now));
  if (*expires - now < base::SecondsLong(std::int64_t{14} * 86400))
    return {"certificate", Grade::kWarning, text, remedy};
  return {"certificate", Grade::kGood, text, ""};
}

std::vector<Finding> JudgeStore(const std::vector<std::string>& unreadable,
                                const std::vector<std::string>& damage,
                                const terminal::Screen& screen) {
  const char* restore = screen.Pick("restore the last backup (pondage man PND-S003)",
                                    "恢复最近的备份 (pondage man PND-S003)");
  std::vector<Finding> findings;
  findings.reserve(unreadable.size() + damage.size());
  for (const std::string& one : unreadable) {
    findings.push_back(
        {"object", Grade::kBroken,
         fmt::format(fmt::runtime(screen.Pick("set aside, what it holds is kept: {}",
                                              "已搁置, 其占用保留: {}")),
                     one),
         screen.Pick("mend it with kubectl, delete it, or restore the last backup "
                     "(pondage man PND-S003)",
                     "用 kubectl 修复或删除, 或恢复最近的备份 (pondage man PND-S003)")});
  }
  for (const std::string& one : damage) {
    findings.push_back({"store", Grade::kBroken, one, restore});
  }
  return findings;
}

std::vector<Finding> JudgeFailure(const view::JobView& job, const terminal::Screen& screen) {
  if (job.state != view::JobState::kFailed) {
    if (const std::string trouble = view::StartTrouble(job, screen);
        !trouble.empty() && !view::IsEnd(job.state)) {
      return {
          {"job", Grade::kBroken,
           fmt::format("{} {}: {}", job.name, view::StateWord(job.state, screen.language), trouble),
           fmt::format("pondage show {}", job.name)}};
    }
    return {{"job", Grade::kGood,
             fmt::format("{} {}", job.name, view::StateWord(job.state, screen.language)), ""}};
  }
  struct Row {
    std::int64_t code;
    const char *english, *chinese, *remedy_english, *remedy_chinese;
  };
  static constexpr std::array kRows = std::to_array<Row>({
      {1, "the program failed by itself", "程序自身出错", "read the last lines of its log",
       "查看日志最后几行"},
      {2, "the program did not take its arguments", "程序参数有误",
       "read the last lines of its log", "查看日志最后几行"},
      {42, "it asked to be queued again too often", "过于频繁地要求重新排队",
       "exit with 42 only after a notice", "仅在收到通知后以 42 退出"},
      {43, "its workers could not agree on a step to save", "各 worker 未能就保存的步数达成一致",
       "see whether a peer hung", "检查是否有副本卡住"},
      {126, "the command is not executable", "命令不可执行",
       "chmod +x it, or start it by its interpreter", "chmod +x, 或用解释器启动"},
      {127, "the command was not found", "找不到命令",
       "check the command and its environment (pondage env)", "检查命令及其环境 (pondage env)"},
      {134, "it aborted (SIGABRT)", "程序中止 (SIGABRT)", "read the last lines of its log",
       "查看日志最后几行"},
      {135, "it crashed (SIGBUS)", "程序崩溃 (SIGBUS)", "a larger --shm often helps",
       "通常需要更大的 --shm"},
      {137, "it was killed (SIGKILL)", "程序被杀死 (SIGKILL)",
       "often too little memory: a larger --memory", "常因内存不足: 增大 --memory"},
      {139, "it crashed (SIGSEGV)", "程序崩溃 (SIGSEGV)", "check native libraries and versions",
       "检查本地库和版本"},
      {143, "it was terminated (SIGTERM)", "程序被终止 (SIGTERM)",
       "see who stopped it: pondage show", "查看是谁停止的: pondage show"},
  });
  std::vector<Finding> findings;
  Finding finding{"job", Grade::kBroken,
                  view::ReasonText(job, screen, job.ended.value_or(base::Instant{})),
                  fmt::format("pondage logs {}", job.name)};
  for (const Row& row : kRows) {
    if (job.exit_code != row.code) continue;
    finding.text += std::string("; ") + screen.Pick(row.english, row.chinese);
    finding.remedy = screen.Pick(row.remedy_english, row.remedy_chinese);
  }
  if (job.cause_reason == "OOMKilled") {
    finding.remedy =
        screen.Pick("it used more memory than it asked for: a larger --memory, smaller batches",
                    "内存超出请求: 增大 --memory 或减小 batch");
  }
  findings.push_back(std::move(finding));
  return findings;
}

namespace {

struct Symptom {
  std::string_view pattern;
  Grade grade;
  const char *english, *chinese, *remedy_english, *remedy_chinese;
};
constexpr std::array kSymptoms = std::to_array<Symptom>({
    {"Invalid reduction dimension 0 for input with 0 dimensions", Grade::kBroken,
     "Keras 3 cannot fit on several workers", "Keras 3 不支持多 worker 的 fit",
     "pondage run --legacy-keras, with tf_keras installed",
     "pondage run --legacy-keras, 并安装 tf_keras"},
    {"PerReplica:{", Grade::kBroken, "Keras 3 got values of several workers",
     "Keras 3 收到了多 worker 的值", "pondage run --legacy-keras, with tf_keras installed",
     "pondage run --legacy-keras, 并安装 tf_keras"},
    {"Could not find cuda drivers", Grade::kWarning, "it runs on the CPU: no CUDA driver was found",
     "在 CPU 上运行: 未找到 CUDA 驱动", "check the driver (nvidia-smi), or ask for no GPU",
     "检查驱动 (nvidia-smi), 或不申请 GPU"},
    {"Cannot dlopen some GPU libraries", Grade::kWarning,
     "it runs on the CPU: CUDA libraries are missing", "在 CPU 上运行: 缺少 CUDA 库",
     "pip install 'tensorflow[and-cuda]'", "pip install 'tensorflow[and-cuda]'"},
    {"CUDA_ERROR_OUT_OF_MEMORY", Grade::kBroken, "the GPU's memory is full", "GPU 显存不足",
     "smaller batches, or a GPU with more memory", "减小 batch, 或使用显存更大的 GPU"},
    {"ResourceExhaustedError", Grade::kBroken, "memory is exhausted", "内存或显存耗尽",
     "smaller batches", "减小 batch"},
    {"No space left on device", Grade::kBroken, "the disk is full", "磁盘已满",
     "free space, or another --checkpoint-dir", "清理空间, 或更换 --checkpoint-dir"},
    {"ModuleNotFoundError", Grade::kBroken, "a Python module is missing", "缺少 Python 模块",
     "install it in the job's environment (pondage env)", "安装到作业的环境中 (pondage env)"},
    {"Permission denied", Grade::kWarning, "a file may not be used", "文件权限不足",
     "check owner and mode, or --mount it", "检查所有者和权限, 或用 --mount 挂载"},
    {"Address already in use", Grade::kBroken, "a port was taken", "端口被占用",
     "use the address of TF_CONFIG, no port of your own", "使用 TF_CONFIG 中的地址, 不要自定端口"},
});

}  // namespace

std::vector<Finding> JudgeLog(const std::string& log, const terminal::Screen& screen) {
  std::vector<Finding> findings;
  for (const Symptom& symptom : kSymptoms) {
    if (log.find(symptom.pattern) == std::string::npos) continue;
    findings.push_back({"log", symptom.grade, screen.Pick(symptom.english, symptom.chinese),
                        screen.Pick(symptom.remedy_english, symptom.remedy_chinese)});
  }
  return findings;
}

}  // namespace pondage::doctor
