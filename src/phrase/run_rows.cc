#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-R001",
     {"a port is taken", "端口被占用"},
     {"port {port} is in use by another program", "端口 {port} 被其他程序占用"},
     {"Another program listens on a port that was chosen for a replica. The job is bound anew with "
      "other "
      "ports; nothing is counted against it.",
      "为副本选择的端口已被其他程序监听。作业会换一组端口重新启动, 不计入失败次数。"},
     {"Nothing, unless it happens again and again: then another program uses the pool's port "
      "range.",
      "通常无需操作; 如果反复发生, 说明有其他程序占用了资源池的端口范围。"},
     {"pondage doctor", "pondage doctor"}},
    {"PND-R002",
     {"the program is not found", "找不到程序"},
     {"{program} is not found", "找不到 {program}"},
     {"The command of the replica names a program that its environment does not have (exit code "
      "127).",
      "副本的 command 指定的程序在其环境中不存在 (退出码 127)。"},
     {"Check the spelling and the environment; a script needs its interpreter in front or a first "
      "line "
      "that names it.",
      "检查拼写和环境; 脚本前面需要写解释器, 或在第一行指明。"},
     {"pondage env ls", "pondage env ls"}},
    {"PND-R003",
     {"the program cannot be executed", "程序无法执行"},
     {"{program} cannot be executed", "{program} 无法执行"},
     {"The file exists but may not be executed by the account that runs it, or is made for another "
      "kind "
      "of machine (exit code 126).",
      "文件存在, 但运行账户没有执行权限, 或是为其他类型的机器编译的 (退出码 126)。"},
     {"Set the executable bit, or put the interpreter in front.",
      "设置可执行权限, 或在前面写上解释器。"},
     {"", ""}},
    {"PND-R004",
     {"user namespaces are off", "用户命名空间被禁用"},
     {},
     {"A volume is to appear at its mountPath for one replica alone, which needs unprivileged user "
      "namespaces, and this machine does not allow them.",
      "卷只对一个副本可见, 这需要非特权用户命名空间, 而此机器不允许。"},
     {"Let the admin allow them, use a pool-wide --mount, or real paths.",
      "请管理员允许, 使用全局 --mount, 或使用真实路径。"},
     {"pondage doctor", "pondage doctor"}},
    {"PND-R005",
     {"a volume cannot be mounted", "卷无法挂载"},
     {},
     {"The directory behind a volume is missing, is not readable by the account, or its mountPath "
      "cannot be made; or it would show or hide the server's or the system's own files; or what "
      "was "
      "allowed was changed before it was mounted.",
      "卷对应的目录不存在, 账户不可读, 无法建立 mountPath; 或卷会暴露或遮盖服务器或系统自己的文件; "
      "或许可之后在挂载前被改动。"},
     {"Correct the path in the manifest, or create the directory.",
      "修改清单中的路径, 或建立该目录。"},
     {"", ""}},
    {"PND-R006",
     {"the working directory is not there", "工作目录不存在"},
     {},
     {"The container's workingDir does not exist where the replica runs.",
      "容器的 workingDir 在副本运行的地方不存在。"},
     {"Correct workingDir, or mount the directory.", "修改 workingDir, 或挂载该目录。"},
     {"", ""}},
    {"PND-R007",
     {"a replica cannot be started", "副本无法启动"},
     {},
     {"The machine refused to start another process, or the small program that watches over a "
      "replica "
      "ended before it could start it.",
      "机器拒绝启动新进程, 或守护副本的小程序在启动前结束。"},
     {"Look for a full process table, a full disk or missing memory.",
      "检查进程数, 磁盘空间和内存。"},
     {"pondage doctor", "pondage doctor"}},
    {"PND-R008",
     {"another account cannot be used", "无法使用其他账户"},
     {},
     {"A replica asks to run as a user or in a group that this server may not give, or that does "
      "not "
      "exist; or it asks not to be root (runAsNonRoot, capabilities.drop) and would be.",
      "副本要求的用户或组, 服务器无法给予或不存在; 或副本要求不以 root 运行 (runAsNonRoot, "
      "capabilities.drop), 却会以 root 运行。"},
     {"Run the server as root with --run-as, or leave out of securityContext what it does not "
      "give.",
      "以 root 启动服务器并使用 --run-as, 或从 securityContext 中去掉服务器不给予的要求。"},
     {"", ""}},
    {"PND-R009",
     {"a file system does not answer", "文件系统没有响应"},
     {},
     {"What a replica needs before it can start (a hostPath, its Python, its working copy) lies on "
      "a file system that has not answered for two minutes, such as a network share whose server "
      "is away. The start was given up; other jobs were not held up.",
      "副本启动前需要的内容 (hostPath, Python, 工作副本) 所在的文件系统两分钟没有响应, "
      "例如服务器离线的网络共享。该次启动已放弃, 其他作业不受影响。"},
     {"Look at the path that the message names with `ls` and `mount`; bring its server back, or "
      "leave the volume out.",
      "用 `ls` 和 `mount` 检查消息中的路径; 恢复其服务器, 或去掉该卷。"},
     {"mount", "mount"}},
});

}  // namespace

std::span<const Message> RunRows() {
  return kRows;
}

}  // namespace pondage::phrase
