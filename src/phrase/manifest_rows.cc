#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-M001",
     {"not YAML or JSON", "不是 YAML 或 JSON"},
     {},
     {"The text cannot be read as a document. The message names line and column; in YAML the usual "
      "causes are a tab, a wrong indent or a missing quote.",
      "文本无法解析。信息中有行和列; YAML 的常见原因是制表符, 缩进错误或缺少引号。"},
     {"Correct the place that the message names.", "修改信息中指出的位置。"},
     {"", ""}},
    {"PND-M002",
     {"the document is too large", "文档过大"},
     {},
     {"A document is bounded in size, in depth and in aliases, so that one request cannot use up "
      "the "
      "server.",
      "文档的大小, 深度和别名数量都有限制, 以免一个请求耗尽服务器。"},
     {"Move data out of the manifest: into a file that is mounted, or a ConfigMap of its own.",
      "把数据移出清单: 放入挂载的文件, 或单独的 ConfigMap。"},
     {"", ""}},
    {"PND-M003",
     {"a field has the wrong type", "字段类型错误"},
     {},
     {"A field holds another kind of value than Kubernetes defines for it, or a number out of "
      "range. "
      "The message names the field.",
      "字段的值类型与 Kubernetes 定义不符, 或数字超出范围。信息中有字段名。"},
     {"Correct the field. A number in quotes is text.", "修改该字段。加引号的数字是文本。"},
     {"", ""}},
    {"PND-M004",
     {"not a quantity", "不是合法的数量"},
     {},
     {"A quantity is a number with a suffix that Kubernetes knows, and it must be within range; "
      "GPUs are "
      "whole.",
      "数量是带 Kubernetes 后缀的数字, 并且不能超出范围; GPU 必须是整数。"},
     {"Write it like these: 2, 500m, 8Gi, 2G.", "写法示例: 2, 500m, 8Gi, 2G。"},
     {"", ""}},
    {"PND-M005",
     {"not a time", "不是合法的时间"},
     {},
     {"Times are written as RFC 3339 has it, lengths of time as a number and a unit.",
      "时间按 RFC 3339 书写, 时长写成数字加单位。"},
     {"Write them like these: 2026-01-31T12:00:00Z, 90s, 10m, 2h.",
      "写法示例: 2026-01-31T12:00:00Z, 90s, 10m, 2h。"},
     {"", ""}},
    {"PND-M006",
     {"not a selector", "不是合法的选择器"},
     {},
     {"A label or field selector is not understood, or asks for a field that this kind does not "
      "offer.",
      "标签或字段选择器有误, 或该类型不支持此字段。"},
     {"Write labels like these: app=mnist, tier!=test, env in (a,b), !legacy.",
      "标签写法示例: app=mnist, tier!=test, env in (a,b), !legacy。"},
     {"", ""}},
    {"PND-M007",
     {"the Pod has nothing to run", "Pod 没有可运行的程序"},
     {},
     {"On one machine an image names an environment and has no entrypoint of its own, so the "
      "container "
      "must say its command.",
      "在单机模式下, 镜像只是环境的名字, 没有入口程序, 因此容器必须写明 command。"},
     {"Add `command` to the container.", "在容器中加上 `command`。"},
     {"", ""}},
    {"PND-M008",
     {"something the Pod refers to is missing", "Pod 引用的对象不存在"},
     {},
     {"A ConfigMap, a Secret, a claim or a key that the Pod template names does not exist in the "
      "job's "
      "namespace.",
      "Pod 模板引用的 ConfigMap, Secret, 存储声明或其中的键在作业的命名空间中不存在。"},
     {"Create it first, or mark the reference optional.", "先创建它, 或把引用标为 optional。"},
     {"", ""}},
    {"PND-M009",
     {"not a message that is known", "无法识别的消息"},
     {},
     {"A client sent a protobuf body that is not one of the kinds served, or is cut off.",
      "客户端发送的 protobuf 内容不是本服务支持的类型, 或不完整。"},
     {"Send JSON or YAML.", "改用 JSON 或 YAML。"},
     {"", ""}},
});

}  // namespace

std::span<const Message> ManifestRows() {
  return kRows;
}

}  // namespace pondage::phrase
