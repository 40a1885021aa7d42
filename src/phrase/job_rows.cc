#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-J001",
     {"the TFJob is not valid", "TFJob 无效"},
     {},
     {"The manifest was read, but says something that a TFJob cannot be. Every wrong field is "
      "listed "
      "with its path.",
      "清单可以解析, 但内容不是合法的 TFJob。每个有误的字段都列出了路径。"},
     {"Correct the fields that are listed and apply again.", "修改列出的字段后重新提交。"},
     {"pondage apply --dry-run -f FILE", "pondage apply --dry-run -f FILE"}},
    {"PND-J002",
     {"a field cannot be changed", "字段不可修改"},
     {},
     {"Some fields of a TFJob are fixed once it exists, since replicas were already made from "
      "them.",
      "TFJob 创建后有些字段不能再修改, 因为副本已按它们建立。"},
     {"Delete the job and apply it anew, or give the new one another name.",
      "删除后重新提交, 或使用另一个名称。"},
     {"pondage rerun JOB", "pondage rerun JOB"}},
    {"PND-J003",
     {"the name is too long or not allowed", "名称过长或不合法"},
     {},
     {"The names of replicas are made from the job's name and must be DNS labels of at most 63 "
      "characters: small letters, digits and hyphens.",
      "副本名由作业名生成, 必须是最长 63 字符的 DNS 标签: 小写字母, 数字和连字符。"},
     {"Use a shorter name.", "使用更短的名称。"},
     {"", ""}},
    {"PND-J004",
     {"the program failed", "程序失败"},
     {"{replica} ended with exit code {code}[ ({reason})]",
      "{replica} 以退出码 {code} 结束[ ({reason})]"},
     {"A replica's program ended with a code that its restart policy does not restart, and so the "
      "job "
      "failed. For a job of several replicas this is the first one that ended.",
      "某个副本的程序以不触发重启的退出码结束, 因此作业失败。多副本作业显示的是最先结束的副本。"},
     {"Read the end of that replica's log.", "查看该副本日志的末尾。"},
     {"pondage logs JOB --tail 50", "pondage logs JOB --tail 50"}},
    {"PND-J005",
     {"out of memory", "内存不足"},
     {"{replica} used more memory than it may[: {limit}]",
      "{replica} 使用的内存超过限制[: {limit}]"},
     {"The kernel ended the program because the replica reached its memory limit, or the machine "
      "had none "
      "left. This is host memory, not the GPU's.",
      "副本达到内存上限或机器内存耗尽, 内核终止了程序。这是主机内存, 不是显存。"},
     {"Raise the memory limit, or lower batch size, prefetch and cache.",
      "提高内存上限, 或减小批大小, 预取和缓存。"},
     {"pondage show JOB", "pondage show JOB"}},
    {"PND-J006",
     {"did not start in time", "未能按时启动"},
     {"{replica} reported no step for {time}", "{replica} 在 {time} 内没有报告任何步数"},
     {"A member said hello and then made no step within its start-up time, so the job would hold "
      "its "
      "GPUs for nothing.",
      "成员已报到, 但在启动时限内没有完成任何一步, 作业会白白占用 GPU。"},
     {"Look for a member that waits for another, or raise pondage.dev/startup-timeout.",
      "检查是否有成员在等待其他成员, 或增大 pondage.dev/startup-timeout。"},
     {"pondage logs JOB", "pondage logs JOB"}},
    {"PND-J007",
     {"restarted too often", "重启次数过多"},
     {"failed {restarts:time|times}, more than its backoffLimit of {limit}",
      "已失败 {restarts} 次, 超过 backoffLimit {limit}"},
     {"Each restart is counted, and the job's limit is reached.",
      "每次重启都会计数, 已达到作业的上限。"},
     {"Find the cause in the log of an earlier attempt, then run the job again.",
      "在之前的尝试日志中查找原因, 然后重新运行。"},
     {"pondage logs JOB --attempt N", "pondage logs JOB --attempt N"}},
    {"PND-J008",
     {"ran longer than allowed", "运行超过时限"},
     {"ran for its whole time of {limit}", "已用完时限 {limit}"},
     {"The job has activeDeadlineSeconds, or its queue a longest run time, and it is over.",
      "作业设置了 activeDeadlineSeconds, 或队列限制了最长运行时间, 时间已到。"},
     {"Save checkpoints and resume, or ask for more time.", "保存检查点后继续, 或申请更长时间。"},
     {"pondage rerun JOB", "pondage rerun JOB"}},
    {"PND-J009",
     {"its machine was lost", "所在机器失联"},
     {"{node} was lost with {replica}", "{node} 失联, 其上有 {replica}"},
     {"The machine gave no sign of life, or was restarted. The job is not to blame: it goes back "
      "to its "
      "queue and resumes from its last checkpoint.",
      "机器失联或被重启。不是作业的错: 它回到队列, 从最近的检查点继续。"},
     {"Nothing; save checkpoints often enough.", "无需操作; 请足够频繁地保存检查点。"},
     {"pondage nodes ls", "pondage nodes ls"}},
    {"PND-J010",
     {"asks to be requeued again and again", "反复要求重新排队"},
     {"asked to be requeued {times:time|times} in a row without being told to leave",
      "在没有被要求离开的情况下连续 {times} 次要求重新排队"},
     {"Exit code 42 means: saved, run me again. A program that always ends so would run for ever.",
      "退出码 42 表示: 已保存, 请再次运行。总是这样结束的程序会永远运行下去。"},
     {"Let the program end with 0 when it is done.", "完成后让程序以 0 退出。"},
     {"pondage logs JOB", "pondage logs JOB"}},
});

}  // namespace

std::span<const Message> JobRows() {
  return kRows;
}

}  // namespace pondage::phrase
