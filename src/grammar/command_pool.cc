#include <utility>

#include "grammar/command.h"

namespace pondage::grammar {
namespace {

Command Serve() {
  Command serve;
  serve.name = "serve";
  serve.words = "[flags]";
  serve.english = "make this machine a pool: API server, planner and agent in one process";
  serve.chinese = "把本机变成资源池: API 服务器, 调度器和代理在同一进程";
  serve.about_english =
      "The first start makes certificates, an admin token and a kubeconfig in the data directory. "
      "SIGTERM stops the server and leaves the jobs running; the next one adopts them.";
  serve.about_chinese =
      "首次启动会在数据目录中生成证书, 管理员令牌和 kubeconfig。SIGTERM 只停止服务器, "
      "作业继续运行; "
      "下一个服务器会接管它们。";
  serve.flags = {
      {"data", 0, "DIR", "data directory", "数据目录"},
      {"listen", 0, "ADDR:PORT", "address (default 127.0.0.1:6443; port 0: any)",
       "监听地址 (默认 127.0.0.1:6443; 端口 0 表示任意)"},
      {"advertise", 0, "HOST[:PORT]",
       "how other machines name this one (default: where it listens)",
       "其他机器访问本机所用的名称 (默认: 监听地址)"},
      {"virtual-gpus", 0, "N[:TYPE[:MEMORY]]", "declared GPUs with no device behind them",
       "声明没有实际设备的虚拟 GPU"},
      {"mount", 0, "SRC:PATH[:ro]", "directory every replica sees at PATH",
       "每个副本都能在 PATH 看到的目录", true},
      {"run-as", 0, "USER", "as root: the account replicas run as", "以 root 运行时副本使用的账户"},
      {"restart-delay", 0, "LENGTH", "before a failed job's first restart; doubles (default 10s)",
       "失败作业首次重启前的等待, 之后加倍 (默认 10s)"},
      {"keep-finished", 0, "LENGTH", "delete finished jobs after this long (default: never)",
       "结束的作业保留多久 (默认: 一直保留)"},
      {"keep-finished-count", 0, "N|all",
       "delete the oldest finished jobs beyond so many (default all; 0: keep none)",
       "结束的作业最多保留多少个, 先删除最早结束的 (默认 all, 全部保留; 0: 不保留)"},
      {"config", 0, "FILE", "settings: one `name = value` a line, names as the flags'",
       "配置文件: 每行 `名称 = 值`, 名称与参数相同"},
  };
  serve.globals = "lang|verbose|help";
  serve.examples = {{"pondage serve", "the GPUs of this machine", "使用本机 GPU"},
                    {"pondage serve --virtual-gpus 8", "try it without a GPU", "没有 GPU 时试用"}};
  return serve;
}

Command Simulate() {
  Command simulate;
  simulate.name = "simulate";
  simulate.words = "FILE [flags]";
  simulate.english =
      "play a workload in virtual time: islands, one pool, plain policies, the bound";
  simulate.chinese = "在虚拟时间中重放负载: 孤岛, 统一资源池, 简单策略和下界";
  simulate.about_english =
      "FILE is a workload (docs/en/workloads.md), or with --trace a file of a public trace or of "
      "Slurm's sacct. The planner is that of serve; the same file gives the same bytes. --out "
      "writes "
      "the whole report: a page to look at, figures as JSON, or one CSV line a job.";
  simulate.about_chinese =
      "FILE 是负载文件 (docs/zh/workloads.md); 加 --trace 则为公开轨迹或 Slurm sacct "
      "的文件。所用调度器与 serve 相同; 同样的文件得到逐字节相同的结果。--out 写出完整报告: "
      "可查看的网页, JSON 数据, 或每个作业一行的 CSV。";
  simulate.flags = {
      {"out", 0, "FILE", "write the report there: FILE.html, FILE.json or FILE.csv",
       "写出报告: FILE.html, FILE.json 或 FILE.csv"},
      {"policy", 0, "NAME", "who decides (default: the file's, else pondage)",
       "由谁决定 (默认取自文件, 否则为 pondage)", false,
       "pondage|fifo|fit|fewest|sjf|srtf|srsf|las|bestfit|fgd"},
      {"baseline", 0, "NAME", "play this beside it", "同时重放以作比较", true,
       "islands|live|fifo|fit|fewest|sjf|srtf|srsf|las|bestfit|fgd"},
      {"compare", 0, "A B",
       "where two ways to decide part, decision by decision, and why: islands, pondage, or a "
       "policy",
       "两种决策方式从哪里开始不同, 逐个决策及原因 (live: 所记录的)", false,
       "pondage|islands|live|fifo|fit|fewest|sjf|srtf|srsf|las|bestfit|fgd", 2},
      {"size-for", 0, "FIGURE=TIME,...",
       "the fewest machines that do, in the file's proportions: p90-wait=10m (mean p50 p90 p99 of "
       "wait or jct)",
       "满足要求的最少机器数, 比例同文件: p90-wait=10m (wait 或 jct 的 mean p50 p90 p99)"},
      {"machines", 0, "NxGPUS[:TYPE],...", "these machines instead of the file's: 18x8",
       "代替文件中的机器, 如 18x8"},
      {"trace", 0, "FORMAT", "FILE is such a trace", "FILE 是这种轨迹", false,
       "openb|philly|muri|tiresias|pollux|gavel|slurm|history"},
      {"machine-list", 0, "FILE", "of --trace openb, philly: its file of machines",
       "用于 --trace openb, philly: 机器列表文件"},
      {"speeds", 0, "PATH", "of --trace gavel: throughputs; of pollux: the folder models",
       "用于 --trace gavel: 吞吐量文件; pollux: 模型目录"},
      {"faults", 0, "KEY=VALUE,...",
       "what goes wrong by chance: mtbf=30d,repair=4h (of a server), limits=0.9..4 (stated, times "
       "the true length)",
       "随机发生的故障: mtbf=30d,repair=4h (每台服务器), limits=0.9..4 (所报时限为真实时长的倍数)"},
      {"costs", 0, "KEY=VALUE,...",
       "what a disturbance costs: restart=60s,saving=20s,grace=30s,checkpoint-every=10m,"
       "apart-slowdown-percent=5",
       "中断的代价: restart=60s,saving=20s,grace=30s,checkpoint-every=10m,"
       "apart-slowdown-percent=5"},
      {"seed", 0, "N", "of what is left to chance (default 1)", "随机种子 (默认 1)"},
      {"seeds", 0, "N", "so many seeds from there on: means, and how sure they are (95 %)",
       "从该种子起取 N 个: 均值及其 95 % 置信区间"},
      {"whole", 0, "", "through the whole server: the same decisions, slower",
       "经过完整服务器: 决策相同, 但更慢"},
  };
  simulate.examples = {{"pondage simulate examples/three-teams.yaml --out report.html",
                        "a page to look at", "生成可查看的网页"},
                       {"pondage simulate lab.yaml --compare pondage fifo",
                        "which decisions differ", "哪些决策不同"},
                       {"pondage simulate lab.yaml --size-for p90-wait=10m",
                        "how many machines are needed", "需要多少台机器"},
                       {"pondage simulate jobs.txt --trace slurm --machines 18x8",
                        "your own history", "自己的历史"}};
  simulate.completes = Completes::kFiles;
  simulate.fewest = 1;
  simulate.most = 1;
  simulate.outputs = "table|json|csv";
  return simulate;
}

// A table behind the command that needs more room.
std::vector<Command> Behind(Command first, const std::vector<Command>& table) {
  std::vector<Command> all{std::move(first)};
  all.insert(all.end(), table.begin(), table.end());
  return all;
}

const std::vector<Command> kPool = {
    {"top",
     "",
     "live: every GPU with its load, owner and job; keys as in nvitop",
     "实时查看: 每块 GPU 的负载, 所有者和作业",
     "Keys: q quits, arrows or j and k move, s sorts, g changes between GPUs and jobs, h shows "
     "help.",
     "按键: q 退出, 方向键或 j, k 移动, s 排序, g 切换 GPU 和作业, h 帮助。",
     {{"jobs", 0, "", "jobs only", "只看作业"},
      {"nodes", 0, "", "GPUs only", "只看 GPU"},
      {"once", 0, "", "print once and leave", "只输出一次"}},
     {{"pondage top", "", ""}, {"pondage top --once -o json", "for scripts", "供脚本使用"}},
     {},
     Completes::kNothing,
     0,
     0,
     false,
     kEveryOutput},
    {"queue",
     "[ls | show Q | set Q KEY=VALUE...]",
     "queues: guarantee, limit, used, waiting",
     "队列: 保证量, 上限, 已用, 等待",
     "Keys of set: guarantee, limit (GPUs; none takes the limit away), parent, display, closed, "
     "held, "
     "max-run. A queue that does not exist is made.",
     "set 的键: guarantee, limit (GPU 数; none 表示不限), parent, display, closed, held, "
     "max-run。"
     "不存在的队列会被创建。",
     {},
     {{"pondage queue", "", ""}, {"pondage queue set nlp guarantee=4 limit=8", "", ""}},
     {"ls", "show", "set"},
     Completes::kVerbs,
     0,
     100,
     false,
     kEveryOutput,
     "ls",
     "ls|show"},
    {"nodes",
     "[ls | show N | drain N | undrain N]",
     "machines: health, GPUs, strangers' processes",
     "机器: 健康状况, GPU, 池外进程",
     "",
     "",
     {},
     {{"pondage nodes", "", ""},
      {"pondage nodes drain gpu02", "what runs stays, nothing new starts",
       "正在运行的不受影响, 不再启动新的"}},
     {"ls", "show", "drain", "undrain"},
     Completes::kVerbs,
     0,
     2,
     false,
     kEveryOutput,
     "ls",
     "ls|show"},
    {"env",
     "[ls | add IMAGE PATH | rm IMAGE]",
     "environments that image names stand for",
     "镜像名所代表的环境",
     "PATH is a virtual environment or any prefix with bin/python.",
     "PATH 是虚拟环境, 或任何含 bin/python 的目录。",
     {},
     {{"pondage env add tensorflow/tensorflow:2.17.0-gpu ~/tf/venv", "", ""},
      {"pondage env", "", ""}},
     {"ls", "add", "rm"},
     Completes::kVerbs,
     0,
     3,
     false,
     kEveryOutput,
     "ls",
     "ls"},
    {"token",
     "[ls | create NAME | revoke NAME]",
     "who may ask the server",
     "谁可以访问服务器",
     "A token is shown once, when it is made.",
     "令牌只在创建时显示一次。",
     {{"space", 0, "NS", "namespace it may work in (default: NAME)",
       "允许使用的命名空间 (默认为 NAME)", true},
      {"read-only", 0, "", "may look, not change", "只能查看"},
      {"admin", 0, "", "may do everything", "可以做任何事"},
      {"write", 0, "FILE", "write a kubeconfig with it instead of printing it",
       "写入 kubeconfig 文件, 而不是打印令牌"}},
     {{"pondage token create li --write /u/li/kubeconfig", "for li, who then sets KUBECONFIG",
       "给 li 使用, 由其设置 KUBECONFIG"},
      {"pondage token revoke li", "", ""}},
     {"ls", "create", "revoke"},
     Completes::kVerbs,
     0,
     2,
     false,
     kEveryOutput,
     "ls",
     "ls"},
    {"backup",
     "FILE",
     "copy of the server's store, while it works",
     "在线备份服务器数据",
     "",
     "",
     {},
     {{"pondage backup /srv/backup/pondage.sqlite", "", ""}},
     {},
     Completes::kFiles,
     1,
     1,
     false},
};

const std::vector<Command> kTools = {
    {"doctor",
     "",
     "check this machine and say what to do",
     "检查本机并给出处理办法",
     "Driver, TensorFlow with its Keras pair, clock, disk, ports, cgroups, user namespaces, "
     "server, "
     "certificate. Exit code 1 when something is broken.",
     "驱动, TensorFlow 与 Keras 的搭配, 时钟, 磁盘, 端口, cgroup, 用户命名空间, 服务器, "
     "证书。有问题时退出码为 1。",
     {{"image", 0, "REF", "check this environment", "检查这个环境"},
      {"job", 0, "JOB", "look at this job's failure, too", "同时查看这个作业的失败原因"},
      {"log", 0, "FILE", "search a log for known faults", "在日志中查找已知故障"},
      {"data", 0, "DIR", "with the server off: search its store for damage, every byte",
       "服务器停止时: 逐字节检查其数据库是否损坏"}},
     {{"pondage doctor", "", ""}, {"pondage doctor --job mnist-7", "", ""}},
     {},
     Completes::kNothing,
     0,
     0,
     false,
     kEveryOutput},
    {"report",
     "[JOB]",
     "facts, settings (no secrets), versions: for a bug report",
     "事实, 设置 (不含秘密), 版本: 用于报告问题",
     "",
     "",
     {{"out", 0, "FILE", "write it there instead of stdout", "写入文件而不是标准输出"}},
     {{"pondage report mnist-7 --out report.json", "", ""}},
     {},
     Completes::kJobs,
     0,
     1,
     false},
    {"config",
     "[show | set KEY=VALUE... | path]",
     "settings of this command",
     "本命令的设置",
     "Keys: server, kubeconfig, namespace, lang, color, output, queue.",
     "键: server, kubeconfig, namespace, lang, color, output, queue。",
     {{"origin", 0, "", "where each value came from", "每个值的来源"}},
     {{"pondage config show --origin", "", ""}, {"pondage config set lang=zh", "", ""}},
     {"show", "set", "path"},
     Completes::kVerbs,
     0,
     100,
     false,
     kEveryOutput,
     "show",
     "show"},
    {"completion",
     "bash|zsh|fish",
     "completion of commands, flags and job names",
     "命令, 参数和作业名的补全",
     "",
     "",
     {},
     {{"source <(pondage completion bash)", "for this shell", "用于当前 shell"}},
     {"bash", "zsh", "fish"},
     Completes::kVerbs,
     1,
     1,
     false},
    {"man",
     "[COMMAND | ID]",
     "the page of a command or of an error id",
     "命令或错误编号的说明页",
     "",
     "",
     {{"roff", 0, "", "as source of a man page", "输出 man 页源文件"}},
     {{"pondage man PND-Q007", "", ""}, {"pondage man run", "", ""}},
     {},
     Completes::kNothing,
     0,
     1,
     false},
    {"version",
     "",
     "versions of client and server",
     "客户端和服务器的版本",
     "",
     "",
     {{"client", 0, "", "ask no server", "不访问服务器"}},
     {{"pondage version", "", ""}},
     {},
     Completes::kNothing,
     0,
     0,
     false,
     kEveryOutput},
    {"help",
     "[COMMAND]",
     "this list, or the page of a command",
     "命令列表, 或某个命令的说明页",
     "",
     "",
     {},
     {{"pondage help run", "", ""}},
     {},
     Completes::kNothing,
     0,
     1,
     false,
     "table|name"},
};

}  // namespace

std::vector<Command> PoolCommands() {
  return Behind(Serve(), kPool);
}

std::vector<Command> ToolCommands() {
  return Behind(Simulate(), kTools);
}

}  // namespace pondage::grammar
