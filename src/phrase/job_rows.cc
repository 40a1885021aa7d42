#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

constexpr std::array kRows = std::to_array<Message>({
    {"PND-J003",
     {"the name is too long or not allowed", "名称过长或不合法"},
     {},
     {"The names of replicas are made from the job's name and must be DNS labels of at most 63 "
      "characters: small letters, digits and hyphens.",
      "副本名由作业名生成, 必须是最长 63 字符的 DNS 标签: 小写字母, 数字和连字符。"},
     {"Use a shorter name.", "使用更短的名称。"},
     {"", ""}},
});

}  // namespace

std::span<const Message> JobRows() {
  return kRows;
}

}  // namespace pondage::phrase
