#include "grammar/command.h"

namespace pondage::grammar {
namespace {

const std::vector<Flag> kRunFlags = {
    {"gpus", 0, "N", "GPUs of each worker (default 0)", "每个 worker 的 GPU 数 (默认 0)"},
    {"workers", 0, "N", "number of workers (default 1)", "worker 数 (默认 1)"},
    {"chief", 0, "", "add a chief", "增加一个 chief"},
    {"ps", 0, "N", "number of parameter servers", "参数服务器数"},
    {"evaluator", 0, "", "add an evaluator", "增加一个 evaluator"},
    {"name", 0, "NAME", "the job's name (default: from the script)", "作业名 (默认取自脚本名)"},
    {"image", 0, "REF", "named environment instead of the present Python",
     "使用已登记的环境, 而不是当前的 Python"},
    {"gpu-type", 0, "TYPE", "GPU type that is needed", "需要的 GPU 型号"},
    {"cpu", 0, "N", "CPU cores of each worker", "每个 worker 的 CPU 核数"},
    {"memory", 0, "SIZE", "memory of each worker, as in 16Gi", "每个 worker 的内存, 如 16Gi"},
    {"shm", 0, "SIZE", "size of /dev/shm", "/dev/shm 的大小"},
    {"queue", 0, "Q", "queue to stand in", "排入的队列"},
    {"priority", 0, "CLASS", "PriorityClass", "优先级类 (PriorityClass)"},
    {"time", 0, "LENGTH", "run-time limit; lets it start earlier", "运行时限; 有时限更早开始"},
    {"env", 0, "K=V", "variable for the program; K alone takes the present value",
     "程序的环境变量; 只写 K 则取当前值", true},
    {"mount", 0, "SRC:DST[:ro]", "directory of this machine to mount", "挂载本机目录", true},
    {"checkpoint-dir", 0, "DIR", "where the program saves; its age is shown and used",
     "程序保存检查点的目录; 会显示并使用其时间"},
    {"grace", 0, "LENGTH", "time to save after SIGTERM (default 120s)",
     "SIGTERM 之后用于保存的时间 (默认 120s)"},
    {"restarts", 0, "N", "restarts before the job fails (default 3)",
     "失败之前的重启次数 (默认 3)"},
    {"legacy-keras", 0, "", "set TF_USE_LEGACY_KERAS=1 (Keras 2 by tf_keras)",
     "设置 TF_USE_LEGACY_KERAS=1 (用 tf_keras 提供的 Keras 2)"},
    {"no-copy", 0, "", "run in the present directory itself", "直接在当前目录运行, 不复制"},
    {"copy-limit", 0, "SIZE", "largest working copy (default 1Gi)",
     "工作副本的最大大小 (默认 1Gi)"},
    {"detach", 'd', "", "submit and return", "提交后立即返回"},
    {"yes", 'y', "", "do not ask", "不询问"},
    {"dry-run", 0, "", "show the plan only; with -o yaml the TFJob",
     "只显示计划; 加 -o yaml 打印 TFJob"},
    {"idempotency-key", 0, "KEY", "same key, same job: safe to repeat",
     "同一个键对应同一个作业, 可放心重试"},
};

Command Run() {
  Command run;
  run.name = "run";
  run.words = "[flags] -- CMD...";
  run.english = "queue a program, start it on GPUs and follow it to its end";
  run.chinese = "把程序排入队列, 在 GPU 上启动并一直跟随到结束";
  run.about_english =
      "Makes a TFJob of the command behind `--`, shows the plan, then stays attached: states and "
      "progress on stderr, the program's output on stdout. The command is started as it is given, "
      "without a shell. Its working directory is a copy of the present one, made once for the job "
      "and kept until the job is deleted; .pondageignore names what is left out. Without --image "
      "it runs with the Python of the present virtual environment. Restarts and requeues are "
      "followed. The exit code is the program's own; 125 when Pondage itself failed, 130 after "
      "Ctrl-C, which detaches and leaves the job running. With --detach or --dry-run nothing is "
      "followed and the codes are those of every other command: 0 sent, 1 not sent because you "
      "said "
      "no, 2 not understood or no such file, 3 no such queue or class, 4 not allowed or can never "
      "start, 5 no server, 6 too late, 7 the name is taken.";
  run.about_chinese =
      "把 `--` 之后的命令做成 TFJob, 先显示计划, 然后保持连接: 状态和进度写到 stderr, 程序输出写到 "
      "stdout。命令按原样启动, 不经过 shell。工作目录是当前目录的副本, 每个作业复制一次, "
      "保留到作业被删除; "
      ".pondageignore 列出不复制的内容。没有 --image 时使用当前虚拟环境的 "
      "Python。重启和重新排队都会继续跟随。"
      "退出码是程序自己的; Pondage 本身失败为 125; Ctrl-C 为 130, 只是断开, 作业继续运行。"
      "加 --detach 或 --dry-run 时不跟随, 退出码与其他命令相同: 0 已提交, 1 你选择不提交, 2 "
      "命令有误或没有文件, 3 没有该队列或优先级类, 4 不允许或永远无法启动, 5 没有服务器, 6 超时, "
      "7 名称已被占用。";
  run.flags = kRunFlags;
  run.examples = {
      {"pondage run --gpus 1 -- python train.py", "one GPU, this directory, this Python",
       "一块 GPU, 当前目录, 当前 Python"},
      {"pondage run --workers 2 --gpus 1 --checkpoint-dir ckpt -- python train.py --epochs 10",
       "two workers that find each other by TF_CONFIG", "两个 worker, 通过 TF_CONFIG 互相发现"},
      {"pondage run --gpus 2 --dry-run -o yaml -- python train.py", "the TFJob it would send",
       "查看将要提交的 TFJob"},
      {"pondage run --detach --yes --idempotency-key nightly-42 -- python train.py",
       "from a script", "在脚本中使用"},
  };
  run.most = 0;
  run.takes_program = true;
  run.outputs = kPlainOutputs;
  return run;
}

std::vector<Command> Apply() {
  const Flag file{"filename", 'f', "FILE", "manifest; - is stdin", "清单文件; - 表示标准输入",
                  true};
  return {
      {"apply",
       "-f FILE",
       "create or change what a manifest says",
       "按清单创建或修改对象",
       "Every document of the file is sent as it is; what is equal is left alone. Unknown fields "
       "are "
       "reported.",
       "文件中的每个文档都会提交; 没有变化的不动。未知字段会给出警告。",
       {file,
        {"dry-run", 0, "", "ask the server, change nothing", "只让服务器检查, 不做改动"},
        {"detach", 'd', "", "return at once (the default)", "立即返回 (默认)"},
        {"follow", 0, "", "follow the first TFJob of the file to its end",
         "跟随文件中第一个 TFJob 到结束"}},
       {{"pondage apply -f job.yaml", "a TFJob as kubectl takes it", "与 kubectl 相同的 TFJob"},
        {"cat job.yaml | pondage apply -f -", "from stdin", "从标准输入读取"}},
       {},
       Completes::kFiles,
       0,
       0,
       false,
       "table|json|name"},
      {"delete",
       "JOB... | -f FILE | --finished",
       "delete jobs with their logs and working copies",
       "删除作业及其日志和工作副本",
       "",
       "",
       {file,
        {"finished", 0, "", "all jobs that have ended", "所有已结束的作业"},
        {"older-than", 0, "LENGTH", "with --finished: that ended so long ago, as in 7d",
         "与 --finished 一起: 结束已有这么久的, 如 7d"},
        {"now", 0, "", "no time to save: kill at once", "不留保存时间, 立即结束"},
        {"yes", 'y', "", "do not ask", "不询问"}},
       {{"pondage delete mnist-7", "stops it first when it runs", "若在运行则先停止"},
        {"pondage delete --finished --older-than 7d", "make room", "腾出空间"}},
       {},
       Completes::kJobs,
       0,
       1000,
       false},
  };
}

const std::vector<Command> kLooking = {
    {"ps",
     "[JOB]",
     "list jobs: state, GPUs, expected start, reason",
     "列出作业: 状态, GPU, 预计开始时间, 原因",
     "Jobs that are not finished; -a adds those that are. A waiting job always says why.",
     "列出未结束的作业; -a 包括已结束的。等待中的作业总会说明原因。",
     {{"all", 'a', "", "finished jobs, too", "包括已结束的作业"},
      {"queue", 0, "Q", "of this queue", "只看此队列"},
      {"user", 0, "U", "of this user", "只看此用户"},
      {"all-users", 0, "", "of all namespaces", "所有命名空间"},
      {"watch", 'w', "", "go on: a line (or object) at each change",
       "持续输出: 每次变化一行 (或一个对象)"}},
     {{"pondage ps", "", ""},
      {"pondage ps -o json | jq '.items[] | select(.state==\"waiting\")'", "for scripts",
       "供脚本使用"}},
     {},
     Completes::kJobs,
     0,
     1,
     false,
     kEveryOutput},
    {"show",
     "JOB",
     "time line, replicas, exits, checkpoint, environment of one job",
     "一个作业的时间线, 副本, 退出原因, 检查点和环境",
     "",
     "",
     {},
     {{"pondage show mnist-7", "", ""},
      {"pondage show mnist-7 -o yaml", "the stored object", "保存的对象"}},
     {},
     Completes::kJobs,
     1,
     1,
     false,
     kEveryOutput},
    {"explain",
     "JOB | -f FILE",
     "why it waits, who is ahead, what would help, and when",
     "为什么等待, 谁在前面, 怎样更快, 何时开始",
     "",
     "",
     {{"filename", 'f', "FILE", "what if I sent this manifest", "假如提交这个清单"}},
     {{"pondage explain bert-3", "", ""},
      {"pondage explain -f job.yaml", "before it is sent", "提交之前先问"}},
     {},
     Completes::kJobs,
     0,
     1,
     false,
     kEveryOutput},
    {"logs",
     "JOB",
     "what the replicas wrote",
     "副本的输出",
     "Of several replicas the lines are merged and carry the replica's name; of one they are "
     "raw.",
     "多个副本时按行合并并带副本名; 单个副本时原样输出。",
     {{"replica", 'r', "ROLE/N", "one replica, as in worker/1", "单个副本, 如 worker/1"},
      {"attempt", 0, "N", "of each replica's Nth start", "每个副本第 N 次启动的输出"},
      {"previous", 'p', "", "of the start before", "上一次启动的输出"},
      {"follow", 'f', "", "go on until the job ends", "持续输出直到作业结束"},
      {"since", 0, "LENGTH", "written in the last LENGTH", "最近这段时间内的输出"},
      {"tail", 0, "N", "the last N lines of each replica", "每个副本最后 N 行"},
      {"timestamps", 0, "", "with times in front", "每行前加时间"},
      {"download", 0, "DIR", "whole logs into files of DIR", "把完整日志保存到目录"}},
     {{"pondage logs -f mnist-7", "", ""},
      {"pondage logs mnist-7 --replica worker/1 --tail 100", "", ""}},
     {},
     Completes::kJobs,
     1,
     1,
     false},
    {"wait",
     "JOB",
     "wait until a job runs, has saved or is finished",
     "等待作业运行, 保存或结束",
     "Exit code 0 when it happened, 1 when the job failed, 6 when --timeout passed first; with "
     "--exit-status the program's own code.",
     "发生则退出码为 0, 作业失败为 1, 超时为 6; 加 --exit-status 则为程序自己的退出码。",
     {{"for", 0, "WHAT", "what to wait for (default finished)", "等待什么 (默认 finished)", false,
       "running|finished|checkpoint"},
      {"exit-status", 0, "", "exit with the program's code", "以程序的退出码退出"}},
     {{"pondage wait mnist-7 --timeout 2h && echo done", "", ""}},
     {},
     Completes::kJobs,
     1,
     1,
     false,
     "table|json"},
};

const std::vector<Command> kSteering = {
    {"stop",
     "JOB...",
     "ask jobs to save and leave; they can be resumed",
     "请求作业保存并停止; 之后可以恢复",
     "SIGTERM, then the time to save, then SIGKILL. Waits until the GPUs are free.",
     "先 SIGTERM, 留出保存时间, 再 SIGKILL。一直等到 GPU 释放。",
     {{"grace", 0, "LENGTH", "time to save, instead of the job's own",
       "保存时间, 代替作业自己的设置"},
      {"now", 0, "", "no time to save", "不留保存时间"},
      {"yes", 'y', "", "do not ask, though it has saved nothing", "即使没有保存过也不询问"}},
     {{"pondage stop mnist-7", "", ""}},
     {},
     Completes::kJobs,
     1,
     1000,
     false},
    {"suspend",
     "JOB...",
     "as stop, without waiting for it",
     "与 stop 相同, 但不等待",
     "",
     "",
     {},
     {{"pondage suspend mnist-7", "", ""}},
     {},
     Completes::kJobs,
     1,
     1000,
     false},
    {"resume",
     "JOB...",
     "put stopped jobs back into their queue",
     "把已停止的作业放回队列",
     "",
     "",
     {},
     {{"pondage resume mnist-7", "", ""}},
     {},
     Completes::kJobs,
     1,
     1000,
     false},
    {"rerun",
     "JOB",
     "a new job with the same specification",
     "用同样的规格新建一个作业",
     "A job that ran in a working copy runs again in a copy of its own, made of what lies there "
     "now: code, outputs and checkpoints. The old job may be deleted. Where that copy cannot be "
     "read from here (the job is another account's, or the pool is on another machine), a warning "
     "says so, and the new job runs in the old copy.",
     "在工作副本中运行的作业, 重新运行时得到自己的副本, 内容取自原副本的现状: 代码, "
     "输出和检查点。原作业可以删除。如果在这里读不到该副本 (作业属于其他账户, "
     "或资源池在另一台机器上), 会给出警告, 新作业直接在原副本中运行。",
     {{"name", 0, "NAME", "its name", "新作业名"},
      {"copy-limit", 0, "SIZE", "largest working copy (default 1Gi)",
       "工作副本的最大大小 (默认 1Gi)"},
      {"share-copy", 0, "", "run in the old job's copy itself, which goes with that job",
       "直接在原作业的副本中运行, 该副本随原作业一起删除"},
      {"same-digest", 0, "", "only with what served its images then (PND-E006)",
       "镜像对应的环境必须与当时相同 (PND-E006)"}},
     {{"pondage rerun mnist-7", "", ""}},
     {},
     Completes::kJobs,
     1,
     1,
     false,
     kPlainOutputs},
};

Command Exec() {
  Command exec;
  exec.name = "exec";
  exec.words = "JOB [--replica R] -- CMD...";
  exec.english = "run a further program inside a replica that runs";
  exec.chinese = "在正在运行的副本中再运行一个程序";
  exec.about_english =
      "The program sees the replica's files, environment, GPUs and limits, and ends with it at the "
      "latest. Its streams are this command's; on a terminal it gets one. Without --replica it is "
      "the chief's, else worker 0's. The exit code is the program's own, 128+n for signal n, 126 "
      "and 127 when it cannot be started; 125 when Pondage failed.";
  exec.about_chinese =
      "该程序看到副本的文件, 环境变量, GPU 和限制, 最迟与副本一起结束。输入输出就是本命令的; "
      "在终端上会得到终端。没有 --replica 时选 chief, 否则选 worker 0。退出码是程序自己的, 被信号 "
      "n "
      "结束为 128+n, 无法启动为 126 和 127; Pondage 失败为 125。";
  exec.flags = {
      {"replica", 0, "R", "which one, as in worker/1", "哪一个副本, 如 worker/1"},
      {"no-stdin", 0, "", "give it no input (in loops of a script)", "不提供输入 (脚本循环中)"},
  };
  exec.examples = {
      {"pondage exec mnist-7 -- nvidia-smi", "its GPUs as the program sees them", "程序看到的 GPU"},
      {"pondage exec mnist-7 --replica worker/1 -- bash", "a shell beside the training",
       "在训练旁边打开 shell"},
  };
  exec.completes = Completes::kJobs;
  exec.fewest = 1;
  exec.most = 1;
  exec.takes_program = true;
  return exec;
}

}  // namespace

std::vector<Command> JobCommands() {
  std::vector<Command> all{Run()};
  for (const std::vector<Command>& part : {Apply(), kLooking, kSteering})
    all.insert(all.end(), part.begin(), part.end());
  all.push_back(Exec());
  return all;
}

}  // namespace pondage::grammar
