// Linked with one whole room: see CMakeLists.txt.
int main() {
  return 0;
}
