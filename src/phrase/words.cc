#include <algorithm>
#include <array>
#include <string>

#include "phrase/phrase.h"

namespace pondage::phrase {
namespace {

// By the English word.
constexpr std::array kWords = std::to_array<Both>({
    {"AGE", "已有"},           {"ARRIVALS", "到达"},
    {"ATTEMPT", "尝试"},       {"AVAILABLE", "可用"},
    {"BORROWED", "借用"},      {"BOUND", "下界"},
    {"CODE", "退出码"},        {"CPU", "CPU"},
    {"ENVIRONMENT", "环境"},   {"EVICTIONS/JOB", "驱逐/作业"},
    {"EXIT", "退出"},          {"GPU", "GPU"},
    {"GPUS", "GPU"},           {"GUARANTEE", "保障"},
    {"HEALTH", "健康"},        {"IMAGE", "镜像"},
    {"JCT", "完成"},           {"JCT P99", "完成 P99"},
    {"JOB", "作业"},           {"LENT", "借出"},
    {"LIMIT", "上限"},         {"LOST GPU-H", "损失 GPU 时"},
    {"MACHINES", "机器"},      {"MAKESPAN", "总时长"},
    {"MEMORY", "内存"},        {"NAME", "名称"},
    {"NAMESPACE", "命名空间"}, {"NODE", "节点"},
    {"OWNER", "所有者"},       {"PARENT", "上级"},
    {"PATH", "路径"},          {"PHASE", "阶段"},
    {"PORT", "端口"},          {"PRIORITY", "优先级"},
    {"PROCESS", "进程"},       {"QUEUE", "队列"},
    {"REASON", "原因"},        {"REPLICA", "副本"},
    {"REPLICAS", "副本"},      {"RESTARTS", "重启"},
    {"RUN", "运行"},           {"RUNNING", "运行中"},
    {"START", "开始"},         {"STATE", "状态"},
    {"STEP", "步数"},          {"TIME", "时间"},
    {"TYPE", "型号"},          {"UNFINISHED", "未完成"},
    {"USE", "使用率"},         {"USED", "已用"},
    {"USER", "用户"},          {"VALUE", "值"},
    {"WAIT", "等待"},          {"WAIT P99", "等待 P99"},
    {"WAITING", "等待中"},     {"WHY", "原因"},
    {"ahead", "前面"},         {"bound", "已分配"},
    {"cordoned", "停止接收"},  {"created", "已创建"},
    {"deleting", "删除中"},    {"failed", "失败"},
    {"finished", "已完成"},    {"held", "被扣留"},
    {"lost", "失联"},          {"never", "永远无法启动"},
    {"nobody", "没有"},        {"pending", "准备中"},
    {"ready", "就绪"},         {"requeued", "重新排队"},
    {"restarting", "重启中"},  {"running", "运行中"},
    {"saving", "保存中"},      {"sooner", "更早启动"},
    {"start", "开始"},         {"starting", "启动中"},
    {"stopped", "已停止"},     {"stopping", "停止中"},
    {"succeeded", "成功"},     {"suspended", "已挂起"},
    {"unhealthy", "不健康"},   {"unknown", "未知"},
    {"virtual", "虚拟"},       {"waiting", "等待中"},
});
static_assert(std::ranges::is_sorted(kWords, {}, &Both::english));

struct HintWord {
  std::string_view key;
  Both text;
};
constexpr std::array kHints = std::to_array<HintWord>({
    {"workers", {"--workers {value}", "--workers {value}"}},
    {"gpus", {"--gpus {value}", "--gpus {value}"}},
    {"total", {"at most {value:GPU|GPUs} in all", "总共最多 {value} 张卡"}},
    {"type", {"no --gpu-type", "不指定 --gpu-type"}},
    {"labels", {"no node selector", "不指定节点标签"}},
    {"time", {"--time {value}s", "--time {value}s"}},
    {"uncordon", {"pondage nodes undrain {value}", "pondage nodes undrain {value}"}},
});

}  // namespace

std::string_view Word(std::string_view word, Language language) {
  const auto found = std::ranges::lower_bound(kWords, word, {}, &Both::english);
  return found == kWords.end() || found->english != word ? word : found->In(language);
}

std::string Hint(std::string_view hint, Language language) {
  std::string out;
  while (!hint.empty()) {
    const std::string_view word = hint.substr(0, hint.find(' '));
    hint.remove_prefix(std::min(hint.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    const auto found = std::ranges::find(kHints, word.substr(0, equals), &HintWord::key);
    if (found == kHints.end() || equals == std::string_view::npos) continue;
    if (!out.empty()) out += ' ';
    out += Fill(found->text.In(language), {{"value", std::string(word.substr(equals + 1))}});
  }
  return out;
}

}  // namespace pondage::phrase
