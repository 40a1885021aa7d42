#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-N001",
     {"no GPU is found", "未发现 GPU"},
     {},
     {"The NVIDIA driver's library could not be loaded, or reports no device. Jobs that ask for a "
      "GPU "
      "can never start here.",
      "无法加载 NVIDIA 驱动库, 或驱动没有报告任何设备。需要 GPU 的作业无法启动。"},
     {"Install the driver, or declare virtual GPUs to try the pool without one.",
      "安装驱动, 或声明虚拟 GPU 以便试用。"},
     {"pondage serve --virtual-gpus 2", "pondage serve --virtual-gpus 2"}},
    {"PND-N002",
     {"a GPU is broken", "GPU 故障"},
     {},
     {"The driver reports that a GPU cannot be used. It gets no new job.",
      "驱动报告某张 GPU 不可用。它不再接收新作业。"},
     {"Look at the kernel log for Xid messages; a reset or a restart often helps.",
      "查看内核日志中的 Xid 信息; 重置或重启通常有效。"},
     {"pondage nodes show NODE", "pondage nodes show NODE"}},
    {"PND-N003",
     {"a GPU is used by somebody outside the pool", "GPU 被资源池之外的程序占用"},
     {},
     {"A process that the pool did not start uses the GPU. Nothing is scheduled over it.",
      "非资源池启动的进程正在使用该 GPU。资源池不会在其上安排作业。"},
     {"Ask its owner to end it, or to use the pool.", "请其所有者结束进程, 或通过资源池使用。"},
     {"pondage nodes show NODE", "pondage nodes show NODE"}},
    {"PND-N004",
     {"no memory or core limits here", "无法限制内存和 CPU"},
     {},
     {"This account may not make control groups on this machine, so requests are counted but not "
      "enforced.",
      "此账户无法在本机建立 cgroup, 因此需求只计数, 不强制。"},
     {"Run the server as a systemd unit with Delegate=yes, as the one in deploy/ does.",
      "用 systemd 并设置 Delegate=yes 运行服务器, 参考 deploy/ 中的单元文件。"},
     {"pondage doctor", "pondage doctor"}},
});

}  // namespace

std::span<const Message> NodeRows() {
  return kRows;
}

}  // namespace pondage::phrase
