import { errorCodes } from '../base/error-codes.ts'

/** `docs/errors.md`: what a client may meet, from the table of codes. */
export function errorReference(): string {
  const rows = Object.entries(errorCodes).map(([code, { title, help }]) => `| \`${code}\` | ${title} | ${help} |`)
  return `# Errors

Every error body is JSON (\`application/problem+json\`, RFC 9457) with \`type\`, \`title\`, \`status\`, \`detail\`, the stable
\`code\` below, \`error\` (the same text as \`detail\`, for older clients) and sometimes more members, named below. Where a
person visits with a browser a page says the same. This page is generated from \`src/base/error-codes.ts\`.

| Code | Title | What it means, what to do |
|---|---|---|
${rows.join('\n')}
`
}
