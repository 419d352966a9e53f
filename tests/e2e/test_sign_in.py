"""Through the door with a browser: in, out, and turned away."""

import pytest
from playwright.sync_api import expect

from domain.people import Role
from tests.e2e.conftest import fill_sign_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def people(app):
    app.add_person("rosa", Role.REVIEWER)
    app.add_person("carl", Role.COORDINATOR)


def test_a_right_password_opens_the_app(sign_in):
    page = sign_in("rosa")
    expect(page.get_by_text("Rosa", exact=True)).to_be_visible()


def test_a_wrong_password_is_told_and_the_name_stays(page):
    fill_sign_in(page, "rosa", "not her password")
    expect(page.get_by_role("alert")).to_have_text("That name and password do not go together.")
    expect(page.get_by_label("Name")).to_have_value("rosa")


def test_signing_out_leads_to_the_sign_in_page_and_stays_there(sign_in):
    page = sign_in("rosa")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page.goto("/")
    expect(page).to_have_url(f"{page.url.removesuffix('/sign-in')}/sign-in")
