import { marked, type Token, type Tokens } from 'marked'
import { type ComponentChildren, h } from 'preact'
import { visible } from '../../lib/text.ts'

/** Whoever wrote a document may not use up the stack of who reads it. */
const MAX_DEPTH = 40
/** Headings of a document are below those of the page. */
const TOP_HEADING = 2
const ADDRESS = /^(?:https?:\/\/|mailto:)/i

/**
 * A text in Markdown. The library only splits it into parts; each part becomes an element of this page, so no markup of the document is ever
 * parsed as HTML. Pictures are not fetched, and links leave the page.
 */
export default function Markdown({ text }: { readonly text: string }) {
  let tokens: readonly Token[]
  try {
    tokens = marked.lexer(text, { gfm: true })
  } catch {
    return <pre class="preview">{text}</pre>
  }
  return <div class="preview markdown">{parts(tokens, 0)}</div>
}

const parts = (tokens: readonly Token[] = [], depth: number): ComponentChildren =>
  tokens.map((token, index) => <Part key={index} token={token} depth={depth} />)

function Part({ token, depth }: { readonly token: Token; readonly depth: number }) {
  if (depth > MAX_DEPTH) return <>{token.raw}</>
  const one = token as Tokens.Generic
  const inner = (): ComponentChildren => parts(one.tokens, depth + 1)
  switch (one.type) {
    case 'heading':
      return h(`h${Math.min(6, Number(one['depth']) + TOP_HEADING)}`, null, inner())
    case 'paragraph':
      return <p>{inner()}</p>
    case 'blockquote':
      return <blockquote>{inner()}</blockquote>
    case 'list':
      return <List list={one as Tokens.List} depth={depth} />
    case 'checkbox':
      return <>{one['checked'] === true ? '☑ ' : '☐ '}</>
    case 'table':
      return <Grid table={one as Tokens.Table} depth={depth} />
    case 'code':
      return <pre>{one['text']}</pre>
    case 'codespan':
      return <code>{one['text']}</code>
    case 'strong':
      return <strong>{inner()}</strong>
    case 'em':
      return <em>{inner()}</em>
    case 'del':
      return <del>{inner()}</del>
    case 'link':
      return <Away href={String(one['href'])}>{inner()}</Away>
    case 'image':
      return <span class="muted">[{decoded(String(one['text']))}]</span>
    case 'br':
      return <br />
    case 'hr':
      return <hr />
    case 'space':
    case 'def':
      return null
    case 'text':
      return <>{one.tokens ? inner() : decoded(String(one['text']))}</>
    // Markup is shown as it is written.
    default:
      return <>{one.raw}</>
  }
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, index) => <li key={index}>{parts(item.tokens, depth + 1)}</li>)
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>
}

const Grid = ({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) => (
  <table>
    <thead>
      <tr>
        {table.header.map((cell, index) => (
          <th key={index} scope="col">
            {parts(cell.tokens, depth + 1)}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {table.rows.map((row, index) => (
        <tr key={index}>
          {row.map((cell, column) => (
            <td key={column}>{parts(cell.tokens, depth + 1)}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

/** A link to another site; anything else stays text. */
const Away = ({ href, children }: { readonly href: string; readonly children: ComponentChildren }) =>
  ADDRESS.test(href) ? (
    <a href={href} title={visible(href)} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ) : (
    <>{children}</>
  )

/** A text with its character references replaced. No element is made of it. */
const decoded = (text: string): string =>
  text.includes('&') ? text.replace(/&(?:#\d+|#x[\da-f]+|\w+);/gi, reference => characterOf(reference)) : text

const characterOf = (reference: string): string =>
  new DOMParser().parseFromString(reference, 'text/html').body.textContent ?? reference
