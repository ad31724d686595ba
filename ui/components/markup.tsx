/** A text in which what stands between backticks is code. */
export const Markup = ({ children }: { readonly children: string }) => (
  <>{children.split('`').map((text, index) => (index % 2 === 0 ? text : <code key={index}>{text}</code>))}</>
)
