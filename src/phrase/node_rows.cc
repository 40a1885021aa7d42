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
});

}  // namespace

std::span<const Message> NodeRows() {
  return kRows;
}

}  // namespace pondage::phrase
