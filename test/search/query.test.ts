import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { stepsOf } from '../support/steps.ts'
import { InvalidInput } from '../../src/base/errors.ts'
import { ANY, ONE } from '../../src/search/engine.ts'
import { parseFilters, parseQuery, type Query } from '../../src/features/search/query.ts'

/** The query in a short form: `&` before what must match, `|` what may, `!` what must not. */
function shown(query: Query): string {
  const boost = query.boost === 1 ? '' : `^${query.boost}`
  if (query.kind === 'term') {
    const text = query.parts.map(part => (part === ANY ? '<*>' : part === ONE ? '<?>' : part)).join('')
    return `${query.field}=${query.isPhrase ? `"${text}"` : text}${boost}`
  }
  if (query.kind === 'range') {
    const { from = '<*>', to = '<*>', includesFrom, includesTo } = query
    return `${query.field}=${includesFrom ? '[' : '{'}${from},${to}${includesTo ? ']' : '}'}${boost}`
  }
  if (query.kind === 'pattern') return `${query.field}=/${query.source}/${boost}`
  if (query.kind === 'fuzzy') return `${query.field}=${query.text}~${query.distance}${boost}`
  const signed = (sign: string, parts: readonly Query[]): string[] => parts.map(part => sign + shown(part))
  return `(${[...signed('&', query.must), ...signed('|', query.should), ...signed('!', query.mustNot)].join(' ')})${boost}`
}

const table: ReadonlyArray<readonly [text: string, expected: string]> = [
  ['title:Donald', 'title=Donald'],
  ['donald', 'all=donald'],
  ['graphType:User AND title:Donald', '(&graphType=User &title=Donald)'],
  ['(graphType:User OR graphType:Group)', '(|graphType=User |graphType=Group)'],
  [
    '(resource:http\\://h\\:8080/a OR resource:b) AND context:c',
    '(&(|resource=http://h:8080/a |resource=b) &context=c)',
  ],
  ['metadata.predicate.literal.3f2ae919:Donald', 'metadata.predicate.literal.3f2ae919=Donald'],
  ['NOT(a:b OR a:c)', '(!(|a=b |a=c))'],
  ['f:"two words"', 'f="two words"'],
  ['f:"say \\"so\\""', 'f="say "so""'],
  ['ab*', 'all=ab<*>'],
  ['f:a?c\\*', 'f=a<?>c*'],
  ['f:(a AND b)', '(&f=a &f=b)'],
  ['f:(a OR g:b)', '(|f=a |g=b)'],
  ['f:[x TO y]', 'f=[x,y]'],
  ['f:{* TO "a b"}', 'f={<*>,a b}'],
  ['f:[1 TO 2}', 'f=[1,2}'],
  ['f:[\\* TO \\*]', 'f=[*,*]'],
  ['term^5', 'all=term^5'],
  ['(a OR b)^0.5', '(|all=a |all=b)^0.5'],
  ['public:true', 'public=true'],
  ['a:x ORb:y', '(|a=x |ORb=y)'],
  ['a b', '(|all=a |all=b)'],
  ['a OR b AND c', '(|all=a |(&all=b &all=c))'],
  ['a AND NOT b', '(&all=a !all=b)'],
  ['NOT NOT a', 'all=a'],
  ['a -b +c', '(&all=c |all=a !all=b)'],
  ['a-b+c!', 'all=a-b+c!'],
  ['!a && b || c', '(|(&all=b !all=a) |all=c)'],
  ['f:-5', 'f=-5'],
  ['f:AND', 'f=AND'],
  ['\\AND', 'all=AND'],
  ['f:a:b', 'f=a:b'],
  ['roam~ tree~1', '(|all=roam~2 |all=tree~1)'],
  ['roam~0.8', 'all=roam'],
  ['roaming~0.8 ab~', '(|all=roaming~1 |all=ab~1)'],
  ['title:watr~1^3', 'title=watr~1^3'],
  ['roam\\~1', 'all=roam~1'],
  ['/wat.*/', 'all=/wat.*/'],
  ['f:/a\\/b\\.c[^ ]/^2 -/x/', '(|f=/a/b\\.c[^ ]/^2 !all=/x/)'],
  ['f:(/a b/ OR c/d)', '(|f=/a b/ |f=c/d)'],
  ['*:*', '*=<*>'],
  ['and', 'all=and'],
]
for (const [text, expected] of table) {
  test(`\`${text}\` is read as ${expected} (W3.10.3)`, () => assert.equal(shown(parseQuery(text)), expected))
}

test('filters have commas between them, not inside quotes, brackets or behind backslashes (W3.10.1)', () => {
  assert.deepEqual(parseFilters('a:b, c:"d,e",f:(g,h),i\\,j,').map(shown), ['a=b', 'c="d,e"', 'f=g,h', 'all=i,j'])
  assert.deepEqual(parseFilters(''), [])
})

const refuses = (text: string): void => assert.throws(() => parseQuery(text), InvalidInput, text.slice(0, 40))

test('a query has bounds: characters, depth, terms, wildcards (W3.10.2)', () => {
  assert.equal(shown(parseQuery(`${'('.repeat(32)}a${')'.repeat(32)}`)), 'all=a')
  refuses(`${'('.repeat(33)}a${')'.repeat(33)}`)
  parseQuery(Array.from({ length: 256 }, (_, n) => `a${n}`).join(' '))
  refuses(Array.from({ length: 257 }, (_, n) => `a${n}`).join(' '))
  refuses('a'.repeat(16_385))
  refuses('a*b*c*d*e')
  refuses('a\0b')
  refuses('a\uD800b')
  refuses('a^1001')
  refuses(`/${'a'.repeat(257)}/`)
})

test('what is not supported is refused by name rather than passed over', () => {
  for (const [text, reason] of [
    ['"a b"~2', /distance between words/],
    ['roam~3', /at most 2 characters/],
    ['roam~1.5', /at most 2 characters/],
    ['ro*m~1', /wildcard and "~"/],
    ['title:/abc', /slash/],
    ['/a/b', /slash/],
  ] as const)
    assert.throws(() => parseQuery(text), { code: 'invalid-query', message: reason }, text)
})

const piece = fc.constantFrom(
  '(',
  ')',
  '"',
  '\\',
  ':',
  '*',
  '?',
  '[',
  ']',
  '{',
  '}',
  ' TO ',
  ' AND ',
  ' OR ',
  'NOT ',
  '+',
  '-',
  '!',
  '^',
  '~',
  '^2',
  '&&',
  '/',
  '||',
  ' ',
  'a',
  'title:',
  'é',
  '\u{1F986}',
  '\0',
  '\uD800',
  ',',
  '.',
)

test('no text does anything but be read or be refused (W3.10.2)', () => {
  const hostile = fc.oneof(
    fc.array(piece, { maxLength: 40 }).map(all => all.join('')),
    fc.string({ unit: 'binary' }),
  )
  const property = fc.property(hostile, text => {
    for (const parse of [parseQuery, parseFilters]) {
      try {
        parse(text)
      } catch (error) {
        assert.ok(error instanceof InvalidInput && error.code === 'invalid-query', String(error))
      }
    }
  })
  fc.assert(property, { numRuns: 2000 })
})

/** For each character. */
const MAX_STEPS = 200

test('parsing 64 KiB of any repeated text takes a limited number of steps for each character (W3.10.5)', async () => {
  const unit = fc.array(piece, { minLength: 1, maxLength: 4 }).map(all => all.join(''))
  const property = fc.asyncProperty(unit, fc.constantFrom(65_536, 16_384), async (text, size) => {
    const hostile = text.repeat(size / text.length + 1).slice(0, size)
    const steps = await stepsOf(() => {
      for (const parse of [parseQuery, parseFilters]) {
        try {
          parse(hostile)
        } catch (error) {
          assert.ok(error instanceof InvalidInput, String(error))
        }
      }
    })
    assert.ok(steps < MAX_STEPS * size, `"${text}" takes ${steps} steps`)
  })
  await fc.assert(property, { numRuns: 100 })
})
