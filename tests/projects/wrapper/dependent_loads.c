/* Loads whose addresses come from loads just before them, with stores between. */
struct node {
  struct node* next;
  long visits;
};

struct node* walk(struct node* node, unsigned steps) {
  for (unsigned i = 0; i < steps; ++i) {
    node->visits += 1;
    node = node->next;
  }
  return node;
}

struct node* three_steps(struct node* node) {
  node->visits += 1;
  node = node->next;
  node->visits += 1;
  node = node->next;
  node->visits += 1;
  return node->next;
}

long sum(struct node* node) { return node->visits + node->next->visits + node->next->next->visits; }
