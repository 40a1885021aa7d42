#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-E001",
     {"no environment serves the image", "没有环境对应此镜像"},
     {"no environment serves {image}[; there are: {environments}]",
      "没有环境对应 {image}[; 现有: {environments}]"},
     {"On one machine an image names a Python environment that an admin registered under that "
      "name. "
      "None is registered for this one.",
      "在单机模式下, 镜像名对应管理员登记的 Python 环境。此镜像没有登记。"},
     {"Register one, or use an image that is there.", "登记一个环境, 或使用已有的镜像名。"},
     {"pondage env add IMAGE PATH", "pondage env add IMAGE PATH"}},
    {"PND-E002",
     {"not an image reference", "不是合法的镜像名"},
     {"{image} is not an image reference: {why}", "{image} 不是合法的镜像名: {why}"},
     {"A reference is [REGISTRY/]REPOSITORY[:TAG][@sha256:DIGEST], the repository in small "
      "letters.",
      "镜像名的格式是 [仓库地址/]名称[:标签][@sha256:摘要], 名称用小写字母。"},
     {"Correct its spelling.", "检查拼写。"},
     {"", ""}},
    {"PND-E003",
     {"the environment is not usable", "环境不可用"},
     {},
     {"The path holds no Python that can be started, or one that the account of jobs (`serve "
      "--run-as`) may not execute. A virtual environment moved to another path does not work "
      "there.",
      "该路径没有可启动的 Python, 或作业账户 (`serve --run-as`) "
      "无权执行。移动过的虚拟环境无法使用。"},
     {"Name the directory that holds bin/python, where that account can reach it, and make it anew "
      "if it was moved.",
      "指定作业账户可访问的、包含 bin/python 的目录; 如果移动过, 请重新建立。"},
     {"pondage env ls", "pondage env ls"}},
    {"PND-E005",
     {"an environment of that name exists", "同名环境已存在"},
     {},
     {"The image name is registered with another path already.", "该镜像名已登记为另一个路径。"},
     {"Remove it first, or use another tag.", "先删除, 或使用其他标签。"},
     {"pondage env ls", "pondage env ls"}},
    {"PND-E006",
     {"an image is not what it was", "镜像已不是当时的环境"},
     {},
     {"rerun --same-digest was asked for, and a tag of the job is served by another environment "
      "now "
      "than when the job ran, or nothing is known of what served it then. A reference with a "
      "digest "
      "is taken as it is. Versions are those that were registered: what pip changed there since is "
      "not seen.",
      "使用了 rerun --same-digest, 但作业的镜像标签现在对应的环境与作业运行时不同, "
      "或者没有记录当时的环境。带摘要的镜像名按原样使用。版本以登记时为准: 之后用 pip "
      "做的改动无法察觉。"},
     {"Register the environment of then again, or run with today's: leave the flag away.",
      "重新登记当时的环境; 或去掉该参数, 使用现在的环境。"},
     {"pondage env ls", "pondage env ls"}},
});

}  // namespace

std::span<const Message> EnvironmentRows() {
  return kRows;
}

}  // namespace pondage::phrase
