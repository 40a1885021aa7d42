#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-S001",
     {"the data were written by a newer version", "数据由更新的版本写入"},
     {},
     {"The data directory holds a schema that this program does not know. Reading it could lose "
      "what "
      "the newer version wrote, so nothing was opened.",
      "数据目录的结构比此程序新。读取可能丢失新版本写入的内容, 因此没有打开。"},
     {"Start the newer version again, or restore a backup made by this one.",
      "重新使用新版本, 或恢复由当前版本制作的备份。"},
     {"pondage version", "pondage version"}},
    {"PND-S002",
     {"the data directory is in use", "数据目录正在使用"},
     {},
     {"Another server runs on this data directory. Two of them would give the same GPU to two "
      "jobs.",
      "另一个服务器正在使用此数据目录。两个服务器会把同一张卡分给两个作业。"},
     {"Use the server that runs, stop it first, or name another directory with --data.",
      "使用正在运行的服务器, 先停止它, 或用 --data 指定另一个目录。"},
     {"pondage doctor", "pondage doctor"}},
    {"PND-S003",
     {"stored data are damaged", "存储的数据已损坏"},
     {},
     {"What was read from the data directory is not what was written: its checksum is wrong or a "
      "part "
      "is missing. The usual causes are a failing disk and a copy made while the server ran. The "
      "server sets a damaged object aside and goes on without it: it is not written over, and the "
      "programs and GPUs of such a TFJob stay its own.",
      "从数据目录读出的内容与写入的不同: 校验和错误或缺少部分内容。常见原因是磁盘故障, "
      "或在服务器运行时复制了文件。服务器会搁置损坏的对象并继续运行: 不会覆盖它, "
      "此类 TFJob 的程序和 GPU 仍归其所有。"},
     {"Keep a copy of the directory, check the disk, and restore the last backup. An object that "
      "can be read but not understood can also be replaced or deleted (kubectl), which ends its "
      "programs.",
      "保留目录副本, 检查磁盘, 并恢复最近的备份。可读取但无法理解的对象也可以用 kubectl "
      "替换或删除, "
      "删除会结束其程序。"},
     {"pondage doctor", "pondage doctor"}},
    {"PND-S004",
     {"the disk cannot be written", "磁盘无法写入"},
     {},
     {"The disk of the data directory is full or failed. What runs goes on and nothing that was "
      "acknowledged is lost; nothing new is accepted until writing works again.",
      "数据目录所在磁盘已满或出错。运行中的作业继续, 已确认的内容不会丢失; "
      "恢复写入前不接受新内容。"},
     {"Free some space (`pondage delete --finished` works on a full disk) or repair the disk; the "
      "server tries again by itself.",
      "释放空间 (磁盘已满时 `pondage delete --finished` 仍可用) 或修复磁盘; 服务器会自动重试。"},
     {"pondage doctor", "pondage doctor"}},
    {"PND-S005",
     {"not a store of this program", "不是本程序的数据文件"},
     {},
     {"The file is a database, but another program made it, so it was left alone.",
      "该文件是数据库, 但由其他程序建立, 因此没有改动。"},
     {"Name the right data directory with --data, or an empty one.",
      "用 --data 指定正确的或空的数据目录。"},
     {"", ""}},
});

}  // namespace

std::span<const Message> StoreRows() {
  return kRows;
}

}  // namespace pondage::phrase
