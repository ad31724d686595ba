/** Values by row and column, of text whose values are separated by commas, semicolons or tabs (RFC 4180). @param most rows */
export function parseCsv(text: string, most: number): readonly (readonly string[])[] {
  const separator = separatorOf(text)
  const rows: string[][] = []
  let row: string[] = []
  let [value, isQuoted] = ['', false]
  const endValue = (): void => {
    row.push(value)
    value = ''
  }
  const endRow = (): void => {
    endValue()
    rows.push(row)
    row = []
  }
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const sign = text.charAt(at)
    if (isQuoted) {
      if (sign !== '"') value += sign
      else if (text.charAt(at + 1) === '"') value += text.charAt(++at)
      else isQuoted = false
    } else if (sign === '"' && value === '') isQuoted = true
    else if (sign === separator) endValue()
    else if (sign === '\n') endRow()
    else if (sign !== '\r') value += sign
  }
  if (rows.length < most && (value !== '' || row.length > 0)) endRow()
  return rows
}

/** The one of the usual separators that the first line has most often. */
function separatorOf(text: string): string {
  const [line = ''] = text.split('\n', 1)
  const counts = [',', ';', '\t'].map(sign => [sign, line.split(sign).length] as const)
  return counts.reduce((best, one) => (one[1] > best[1] ? one : best), counts[0] ?? [',', 0])[0]
}
