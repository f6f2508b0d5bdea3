struct Node {
	Node* next;
	int value;
};

void List::push(int value) {
  Node* n = allocate();
  n->value = value;
  n->next = head;
  flush(n);
  head = n;
}
