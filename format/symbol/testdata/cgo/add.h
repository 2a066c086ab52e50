int add_twice(int a, int b);
