/**
 * The same function, which makes nothing twice: for what is asked a hundred thousand times of few keys. What it has made of `most`
 * keys is kept; then it begins anew.
 */
export function remembered<Key, Made>(make: (key: Key) => Made, most = 2_000): (key: Key) => Made {
  const known = new Map<Key, Made>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (known.size >= most) known.clear();
    known.set(key, made);
    return made;
  };
}
