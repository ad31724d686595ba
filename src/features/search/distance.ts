/**
 * Whether at most `most` changes turn one text into the other: a character added, removed or replaced, or two neighbours exchanged (the
 * distance of Damerau and Levenshtein, each place changed once).
 * @param most a small number, because the work grows with it
 */
export function isWithinDistance(one: string, other: string, most: number): boolean {
  const [a, b] = [[...one], [...other]]
  if (Math.abs(a.length - b.length) > most) return false
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const here = [row]
    let least = row
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (above[column] ?? 0) + 1,
        (here[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (isSwap) cost = Math.min(cost, (before[column - 2] ?? 0) + 1)
      here.push(cost)
      least = Math.min(least, cost)
    }
    if (least > most) return false
    before = above
    above = here
  }
  return (above[b.length] ?? 0) <= most
}
