#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-C001",
     {"the server is not reached", "无法连接服务器"},
     {},
     {"No pondage server answered. Either none runs, or the address this command found is not the "
      "right one: the error names the address and where it came from. The order is --server or "
      "--kubeconfig, then PONDAGE_SERVER, then KUBECONFIG when it names a pondage server, then the "
      "file server in the configuration folder, which `pondage serve` writes. Jobs that run are "
      "not touched by a server that is away.",
      "没有 pondage 服务器应答。要么没有运行, 要么找到的地址不对: "
      "错误信息中有地址及其来源。查找顺序: --server 或 --kubeconfig, PONDAGE_SERVER, 指向 pondage "
      "的 KUBECONFIG, 最后是 `pondage serve` 写在配置目录中的 server 文件。服务器不在时, "
      "正在运行的作业不受影响。"},
     {},
     {"pondage serve --data DIR (on the server), or pondage doctor",
      "在服务器上运行 pondage serve --data DIR, 或运行 pondage doctor"}},
    {"PND-C002",
     {"the command line is not understood", "命令行有误"},
     {},
     {"A flag, word or value is not one that the command takes. The page of each command is shown "
      "by --help.",
      "参数或取值不被该命令接受。用 --help 查看每个命令的说明。"},
     {},
     {"", ""}},
    {"PND-C003",
     {"the kubeconfig is not usable", "kubeconfig 无法使用"},
     {},
     {"The file that says where the server is cannot be read or lacks something. `pondage serve` "
      "writes one called kubeconfig into its data directory, readable by its owner only; another "
      "account gets its own token with `pondage token create`.",
      "说明服务器位置的文件无法读取或缺少内容。`pondage serve` 在数据目录写入 kubeconfig, "
      "仅所有者可读; 其他账户用 `pondage token create` 获得自己的令牌。"},
     {},
     {"pondage config show --origin", "pondage config show --origin"}},
    {"PND-C004",
     {"the server does not know the token", "服务器不认识该令牌"},
     {},
     {"The token was revoked, has expired, or belongs to another server.",
      "令牌已撤销, 已过期, 或属于另一台服务器。"},
     {},
     {"ask the admin for: pondage token create NAME", "请管理员执行: pondage token create NAME"}},
    {"PND-C005",
     {"not allowed", "没有权限"},
     {},
     {"The token is known, but may not do this. A token works in its own namespace; use "
      "--namespace, or ask the admin.",
      "令牌有效, 但不能做这件事。令牌只在自己的命名空间内有效; 请使用 --namespace 或联系管理员。"},
     {},
     {"", ""}},
    {"PND-C006",
     {"it took too long", "超时"},
     {},
     {"What was waited for did not happen in the time given. Nothing was undone: the job or the "
      "request may still go on.",
      "在给定时间内没有等到结果。没有撤销任何操作: 作业或请求可能仍在继续。"},
     {},
     {"a longer --timeout", "使用更长的 --timeout"}},
    {"PND-C007",
     {"something else is there already", "已有不同的内容"},
     {},
     {"An object of that name exists with other content, or it was changed by somebody else in the "
      "meantime. Look at it and try again.",
      "同名对象已存在且内容不同, 或期间被别人修改。请查看后重试。"},
     {},
     {"", ""}},
    {"PND-C008",
     {"there is no such thing", "不存在"},
     {},
     {"The server has no object of that name in this namespace. Finished jobs are listed by "
      "`pondage ps -a`, other namespaces by --namespace.",
      "此命名空间中没有该名称的对象。已结束的作业用 `pondage ps -a` 查看, 其他命名空间用 "
      "--namespace。"},
     {},
     {"pondage ps -a", "pondage ps -a"}},
    {"PND-C009",
     {"the server refused it", "服务器拒绝"},
     {},
     {"What was sent is not valid; the message names each field that is wrong.",
      "提交的内容无效; 信息中列出了每个有误的字段。"},
     {},
     {"", ""}},
    {"PND-C010",
     {"a file cannot be used", "文件无法使用"},
     {},
     {"A file or directory named on the command line cannot be read, written or understood.",
      "命令行中的文件或目录无法读取, 写入或解析。"},
     {},
     {"", ""}},
    {"PND-C011",
     {"the working directory is too large to copy", "工作目录太大, 无法复制"},
     {},
     {"`pondage run` copies the present directory once per job, so that a later edit does not "
      "change a running program. Data does not belong into that copy: list it in .pondageignore "
      "(patterns as in .gitignore) and read it by its absolute path.",
      "`pondage run` 为每个作业复制一次当前目录, 以免后来的修改影响正在运行的程序。数据不应在其中: "
      "请写入 .pondageignore (格式同 .gitignore), 并用绝对路径读取。"},
     {},
     {"list what is data in .pondageignore, or use --no-copy or --copy-limit",
      "把数据写入 .pondageignore, 或使用 --no-copy, --copy-limit"}},
    {"PND-C012",
     {"the server's answer is not understood", "无法理解服务器的应答"},
     {},
     {"The answer has another form than this client expects. Client and server may be one minor "
      "version apart, not more.",
      "应答格式与客户端预期不同。客户端与服务器最多相差一个次版本。"},
     {},
     {"pondage version", "pondage version"}},
    {"PND-C013",
     {"the server failed", "服务器内部失败"},
     {},
     {"The server answered with an error of its own. Its log says more; a report helps to find the "
      "cause.",
      "服务器返回了自身错误。其日志有更多信息; 报告有助于查找原因。"},
     {},
     {"pondage report --out report.json", "pondage report --out report.json"}},
    {"PND-C014",
     {"the job ended without a program's exit code", "作业结束但没有程序的退出码"},
     {},
     {"It failed before or beside the program: it was deleted, its environment is missing, or a "
      "limit of the job was reached. `pondage show` has the reason.",
      "在程序之前或之外失败: 被删除, 环境缺失, 或达到作业的限制。`pondage show` 有原因。"},
     {},
     {"pondage show JOB", "pondage show JOB"}},
    {"PND-C015",
     {"the job can never start as it is", "作业按此要求永远无法启动"},
     {},
     {"No machine of the pool, or no limit of the queue, can ever satisfy it, even when nothing "
      "else runs. Waiting would not help, so it was not sent. --yes sends it all the same.",
      "即使没有其他作业, 资源池中的机器或队列上限也无法满足。等待没有用, 所以没有提交。--yes "
      "可强制提交。"},
     {},
     {"smaller numbers; pondage nodes shows what there is",
      "减小数量; pondage nodes 查看现有资源"}},
    {"PND-C016",
     {"no such replica or attempt", "没有该副本或尝试"},
     {},
     {"The job has no replica of that name, or nothing was written in that attempt.",
      "该作业没有这个副本, 或该次尝试没有输出。"},
     {},
     {"pondage show JOB", "pondage show JOB"}},
    {"PND-C017",
     {"no Python is found", "找不到 Python"},
     {},
     {"Without --image the program runs with the Python of VIRTUAL_ENV, else with python3 of the "
      "PATH. Neither could be started.",
      "没有 --image 时使用 VIRTUAL_ENV 的 Python, 否则使用 PATH 中的 python3。两者都无法启动。"},
     {},
     {"pondage env", "pondage env"}},
    {"PND-C018",
     {"a question cannot be asked here", "此处无法询问"},
     {},
     {"The command wants to be sure, but its input is not a terminal.",
      "该命令需要确认, 但输入不是终端。"},
     {},
     {"--yes", "--yes"}},
    {"PND-C019",
     {"nothing can be handed to the server", "无法把文件交给服务器"},
     {},
     {"The server is on another machine, where neither the working copy nor the present Python is; "
      "or its data directory is closed to this account.",
      "服务器在另一台机器上, 那里没有工作副本和当前 Python; 或其数据目录不允许本账户写入。"},
     {},
     {"--image, and --no-copy with a shared directory",
      "使用 --image, 以及共享目录上的 --no-copy"}},
    {"PND-C021",
     {"the job is stopped", "作业已停止"},
     {},
     {"Somebody stopped the job while this command followed it.", "在跟随期间有人停止了该作业。"},
     {},
     {"pondage resume JOB", "pondage resume JOB"}},
    {"PND-C022",
     {"there is no such queue", "没有该队列"},
     {},
     {"`pondage run --queue` and the setting queue name a queue of the pool. A TFJob that names a "
      "queue which does not exist yet is kept and waits for it; a command that does is refused.",
      "`pondage run --queue` 和设置项 queue 必须指向已有的队列。TFJob "
      "清单中不存在的队列会一直等待; 命令行则直接拒绝。"},
     {},
     {"pondage queue; an admin makes one with pondage queue set QUEUE limit=none",
      "pondage queue; 管理员可用 pondage queue set QUEUE limit=none 创建"}},
    {"PND-C023",
     {"the answer was lost", "应答丢失"},
     {},
     {"The connection broke behind the request and before its answer, so it is not known whether "
      "the server did what was asked. Nothing is sent twice by itself. `pondage run` looks for its "
      "own job before it gives up; with --idempotency-key the same command can be given again at "
      "any time and makes at most one job.",
      "请求已发出, 但连接在应答之前断开, 因此不知道服务器是否已执行。不会自动重复发送。`pondage "
      "run` "
      "放弃之前会先查找自己的作业; 使用 --idempotency-key 时, 同一命令可随时重复执行, "
      "最多只产生一个作业。"},
     {},
     {"look whether it is there (pondage ps), then give the command again",
      "先查看是否已存在 (pondage ps), 再重新执行命令"}},
    {"PND-C024",
     {"the job has finished", "作业已结束"},
     {},
     {"A job that has succeeded or failed does not run again: it can be neither stopped nor "
      "resumed. `pondage rerun` makes a new one of the same specification.",
      "已成功或失败的作业不会再运行, 既不能停止也不能恢复。`pondage rerun` 用同样的规格新建作业。"},
     {},
     {"pondage rerun JOB", "pondage rerun JOB"}},
});

}  // namespace

std::span<const Message> CommandRows() {
  return kRows;
}

}  // namespace pondage::phrase
